#pragma once

#include <pthread.h>
#include <signal.h>

#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"
#include "platform/process_limits.h"

namespace terrane::platform {

// A thread that takes none of the program's signals (those of faults excepted, which it never
// causes). Throws std::system_error that names the limit in the way where it cannot be started.
template <typename Function>
std::thread start_without_signals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(function));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw std::system_error(error.code(),
                            "cannot start a thread: " + why_no_thread(error.code().value()));
  }
}

// What call() returns, a Result; an error, too, where the system has no thread or no memory.
template <typename Call>
auto without_exceptions(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::system_error& error) {
    return base::error("{}", error.what());
  } catch (const std::bad_alloc&) {
    return base::error(
        "no memory for Terrane's own tables: raise 'ulimit -v' and 'ulimit -d', or the memory of "
        "the control group (memory.max)");
  }
}

}  // namespace terrane::platform
