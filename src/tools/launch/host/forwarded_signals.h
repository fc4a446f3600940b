#pragma once

#include <signal.h>

namespace terrane::tools {

// The signals that `terrane run` passes on to its nodes: all that are sent to a program, and that
// mean nothing to the launcher.
inline sigset_t forwarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGALRM,
                     SIGVTALRM, SIGPROF, SIGXCPU, SIGWINCH, SIGIO, SIGPWR}) {
    ::sigaddset(&set, signal);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ::sigaddset(&set, signal);
  return set;
}

// Those that stop the processes of a job, or let them go on.
inline bool stops_or_continues(int signal) { return signal == SIGTSTP || signal == SIGCONT; }

// Those that a user ends a job by.
inline bool ends_a_job(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace terrane::tools
