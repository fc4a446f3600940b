#pragma once

#include <sys/types.h>

#include <cstdint>

#include "frontend/threads/program.h"

// How a signal gets to the program's process, which is that of node 0, or to one of its threads.
namespace terrane::frontend::threads {

// This node's process, as its kernel knows it; 0: before begin_signals().
inline constinit pid_t the_process = 0;

// Of Record::waits_as: the thread begins to wait on node 0.
inline constexpr std::uint32_t kBeginsToWait = ~0u;

// Whether a signal of that code comes with a value. Those of the kernel and of kill(2) do not, and
// other processes cannot send them.
bool has_value(int code);

// Sends a signal to this node's process. `code` is a siginfo_t's; `value` goes with SI_QUEUE and
// what the kernel does not send itself.
void send_to_process(int signal_number, int code, void* value);
// Sends it to a thread of this node, by the kernel's number. An error number, or 0.
int send_to_thread(pid_t thread, int signal_number, int code, void* value);

// Sends a command about a signal to a node, and waits until it is done. A thread of the program.
void send_and_wait(std::uint32_t node, Command command);
// The command of another node's thread is done: that thread goes on.
void acknowledge(const Command& command);
// Sends the signal of the command to its thread, which runs on this node, or waits on another one
// as another thread.
void signal_thread(Command command);

}  // namespace terrane::frontend::threads
