#pragma once

#include "frontend/threads/program.h"

// Programs that execute themselves, or another program. Before the program has made a thread, all
// nodes execute: the other program is the job's. Later node 0 alone does, and the others leave.
namespace terrane::frontend::threads {

// Every node, as the only thread of the program.
void begin_executing();
// The thread that serves this node's mail: what main has asked for. Does not return.
[[noreturn]] void serve_execution(const Command& command);

}  // namespace terrane::frontend::threads
