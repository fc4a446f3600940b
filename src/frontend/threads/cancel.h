#pragma once

#include <sys/types.h>

#include <cstdint>

#include "frontend/threads/control.h"

// pthread_cancel: a thread of the program ends at its next cancellation point, on whatever node it
// runs. A request goes to the node of the thread, which marks the thread and wakes it.
namespace terrane::frontend::threads {

// From now on threads of the program have cancellation points.
void begin_cancelling();
// The calling thread is that of the record, until it calls end_target().
void begin_target(const Record& record);
void end_target(const Record& record);

// Cancels a thread on any node. An error number, or 0.
int cancel(Record& record);

// That of a record whose thread runs on this node; 0: none does.
std::uint32_t generation_of(std::uint32_t number);
// The kernel's number of a thread of this node; 0: it is not there.
pid_t thread_of(std::uint32_t number, std::uint32_t generation);
// The same, and waits until it is, as it has just been made; 0: it has ended, or does not come.
pid_t await_thread(std::uint32_t number, std::uint32_t generation);
// On the node of the thread: marks it. A thread that had the record before is not meant.
void mark_cancelled(std::uint32_t number, std::uint32_t generation);
// Wakes the threads of this node that are marked and wait. When to do so again, since a thread may
// have been about to wait; kForEver: none waits.
std::uint64_t wake_cancelled();

}  // namespace terrane::frontend::threads
