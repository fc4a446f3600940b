#pragma once

#include <cstdint>

#include "frontend/threads/control.h"

// Loops that poll plain memory, which another node writes, never end. With --patience they are
// named.
namespace terrane::frontend::threads {

// 0: nobody wants to know.
std::uint64_t patience_ns();
// Says that a thread has polled for so long, at an instruction of the program. `does`: what it has
// done meanwhile. On private memory.
void report_polling(const Record& record, const char* does, std::uint64_t for_ns,
                    std::uintptr_t at);

// Watches the threads of this node from now on: one that runs for so long without a system call
// that waits, in a loop that only another thread's write can end, is reported, once a loop. Every
// node, once, before it has threads.
void watch_loops();
// The calling thread is that of the record, and is so no more.
void begin_watched(const Record& record);
void end_watched(const Record& record);

}  // namespace terrane::frontend::threads
