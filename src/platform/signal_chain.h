#pragma once

#include <signal.h>

#include "base/result.h"

namespace terrane::platform {

// Our handler of one signal in front of what the program had for it. Installed once a process,
// never taken away: who came after us may hand signals on to us.
class SignalChain {
 public:
  using Handler = void (*)(int signal_number, siginfo_t* info, void* context);

  explicit constexpr SignalChain(int signal_number) : signal_number_(signal_number) {}

  // Does nothing when installed already. Asynchronous signals wait while the handler runs, but for
  // those that end a program. Not thread-safe.
  base::Result<void> install(Handler handler);

  // Inside the handler: does what would have happened without us, under the signal mask that it
  // would have had. Where that is death by default, the signal comes again when the handler
  // returns.
  void pass_on(siginfo_t* info, void* context) const;

 private:
  int signal_number_;
  bool installed_ = false;
  struct sigaction earlier_ {};
};

}  // namespace terrane::platform
