#pragma once

#include <signal.h>

namespace terrane::tools {

// The signals that `terrane run` passes on to its nodes.
inline sigset_t forwarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT}) {
    ::sigaddset(&set, signal);
  }
  return set;
}

// Those that a user ends a job by.
inline bool ends_a_job(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace terrane::tools
