#pragma once

#include "frontend/threads/control.h"

// A signal for the process that all threads of node 0 have closed goes to a thread of another node
// that has it open, as the kernel would give it to any thread of one process. Node 0 offers what is
// pending to the other nodes, and sends it to the first one that accepts.
namespace terrane::frontend::threads {

// Node 0, as the only thread of the program: from now on it offers signals.
void begin_offers();
// None is offered any more: the other nodes leave.
void end_offers();

// On another node than 0: accepts one of the signals, if a thread of the program has it open.
void consider_offer(const Command& command);
// On node 0: sends the signal that another node has accepted, if it is pending still.
void send_accepted(const Command& command);
// On the node that has accepted: the signal for the thread. Back to node 0 where the thread has
// ended, or has closed it by now.
void deliver_accepted(const Command& command);

}  // namespace terrane::frontend::threads
