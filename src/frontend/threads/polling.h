#pragma once

#include <cstdint>

#include "frontend/threads/control.h"

// Loops that poll plain memory, which another node writes, would never end. Where atomics are
// served, the pages that they read become synchronisation pages, about a tenth of a second after a
// loop has begun: at once where nothing but the memory can end the loop, and otherwise (it sleeps,
// yields, counts, or looks at a clock) when another node has stored to what it reads
// (polled_words.h). With --patience loops of other programs are named.
namespace terrane::frontend::threads {

// 0: nobody wants to know.
std::uint64_t patience_ns();
// Says that a thread has polled for so long, at an instruction of the program. `does`: what it has
// done meanwhile. On private memory.
void report_polling(const Record& record, const char* does, std::uint64_t for_ns,
                    std::uintptr_t at);

// Watches the threads of this node from now on: those that run for some time without a system call
// that waits, in a loop that only another thread's write can end. Every node, once, before it has
// threads.
void watch_loops();
// Before this node leaves the job: nobody looks at its threads any more.
void stop_watching();
// The calling thread is that of the record, and is so no more.
void begin_watched(const Record& record);
void end_watched(const Record& record);

}  // namespace terrane::frontend::threads
