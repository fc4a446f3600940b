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

}  // namespace terrane::tools
