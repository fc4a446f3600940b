#pragma once

#include <cstdint>

namespace terrane::frontend::threads {

// Why this node has made a page a synchronisation page.
enum class ServedFor : std::uint8_t {
  kAtomic,  // an instruction that changes a word at once
  kLoop,    // a loop of this node that only another thread's store can end
  kNews     // a loop of another node reads a word that this node has stored
};

// For the report at the end (--stats). Any thread; takes no memory. The first few pages count.
void note_served(std::uintptr_t word, ServedFor why);
// Prints their names, if there is to be a report. By one thread, once.
void report_served_pages();

}  // namespace terrane::frontend::threads
