#pragma once

#include <signal.h>

namespace terrane::platform {

// Called in a signal handler, once the process is to die of that signal, which the program leaves
// at its default.
using CrashReport = void (*)(int signal_number, const siginfo_t* info, void* context);

// From now on `report` is called before the process dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL,
// SIGTRAP, SIGSYS or SIGABRT. The program sees its default action for them.
void report_crashes(CrashReport report);

bool reports_crashes();

// Of SIGSEGV and SIGBUS, whose handlers are those of faults. Async-signal-safe.
void report_crash(int signal_number, const siginfo_t* info, void* context);

// What sigaction has answered, as the program is to see it: a handler of ours is the default.
void hide_crash_handler(struct sigaction& action);
sighandler_t without_crash_handler(sighandler_t handler);

}  // namespace terrane::platform
