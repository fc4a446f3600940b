#pragma once

#include <signal.h>
#include <sys/types.h>

namespace terrane::platform {

// Wakes a thread of this process: a system call that waits ends with EINTR, a sleep of the runtime
// ends early; else nothing happens. By a SIGBUS with a mark, since every thread has that signal
// open and on a stack of its own, whatever the program asks of signals. The thread must be in the
// job, so that the handler of faults is installed.
void wake_thread(pid_t thread);
// Whether a signal is one of these.
bool is_wake(const siginfo_t& info);

}  // namespace terrane::platform
