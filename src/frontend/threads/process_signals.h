#pragma once

#include <signal.h>
#include <sys/types.h>

#include "frontend/threads/program.h"

// Signals of a program on several nodes: it is one process, that of node 0. What main has installed
// holds on every node. A signal for the process goes to node 0, wherever it was sent to; one for a
// thread stays on the thread's node.
namespace terrane::frontend::threads {

// Node 0, before the other nodes look: what the process is, and the actions that it began with.
void share_process(Control& control);
// Every node, after share_process().
void begin_signals(const Program& program);

// The thread that serves this node's mail. It passes signals from outside on, and is woken for
// that.
void begin_relaying();
bool has_relayed_signals();
void relay_signals();
// Commands of this node's mail that are about signals.
void serve_signal(const Command& command);

// Whether a signal for the process is one that it has had just now: a batch system may send it to
// all processes of a job, and to the launcher, which passes it on. Otherwise it has it now.
bool is_echo(int signal_number, const siginfo_t& info);

// Whether the program means itself by that number.
bool is_programs_process(pid_t process);

}  // namespace terrane::frontend::threads
