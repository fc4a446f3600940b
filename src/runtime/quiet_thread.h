#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace terrane::runtime {

// A thread that takes none of the program's signals (those of faults excepted, which it never
// causes).
template <typename Function>
std::thread start_without_signals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace terrane::runtime
