#pragma once

#include <pthread.h>
#include <signal.h>

namespace terrane::base {

// While this lives the calling thread takes no signals, and threads that it starts take none for
// good. To be destroyed by the same thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace terrane::base
