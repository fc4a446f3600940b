#pragma once

#include <signal.h>

#include <cstdint>

#include "platform/trap_signal.h"

namespace terrane::platform {

// What a program asks of signals, done so that the signals of faults (SIGBUS, SIGSEGV) reach us
// first and are never closed in any thread, and answered as if they were the program's alone. The
// front-end gives these to programs under the C library's names; parameters, results and errors are
// those of the C library. Async-signal-safe where the C library's are. Pointers may lie in shared
// memory.

// The signals that faults come by, and SIGTRAP where traps are served (trap_signal.h).
inline bool is_fault_signal(int signal_number) {
  return signal_number == SIGBUS || signal_number == SIGSEGV ||
         (signal_number == SIGTRAP && serves_traps());
}

int program_sigaction(int signal_number, const struct sigaction* action, struct sigaction* before);
// pthread_sigmask: an error number, or 0. What a program has closed is reported as closed.
int program_sigmask(int how, const sigset_t* set, sigset_t* before);
// A thread keeps a stack of ours where the program's would be too small for serving a fault.
int program_sigaltstack(const stack_t* stack, stack_t* before);

// A mask for a call that waits under one: without the signals of faults.
sigset_t without_fault_signals(const sigset_t& mask);

// Opens the signals of faults in this thread. What the program had closed by then stays reported.
void open_fault_signals();

// Which of these signals the program believes to be closed in this thread; a new thread has them
// from the one that made it.
std::uint8_t believed_closed();
void believe_closed(std::uint8_t signals);

}  // namespace terrane::platform
