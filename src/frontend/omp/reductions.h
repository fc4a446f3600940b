#pragma once

#include <cstdint>

// Task reductions. The compiler describes the variables of a clause by a table of words, and each
// thread of the team gets a copy of them in memory that all threads share:
//   0 the number of variables, 1 the bytes of one thread's copies, 2 their alignment, which becomes
//   the address of all copies, 3 an allocator, 4 the next table, 6 the copies' end; from 7 on three
//   words for each variable: its address, the offset of its copy, and one that is not used here.
// A table that is in force is linked with those around it by word 4; word 5 is 1 in the first table
// of a clause.
namespace terrane::frontend::omp {

// Gives the tables of a clause memory for the threads of the region of so many threads, and puts
// them into force in the calling thread's task group.
void register_reductions(std::uintptr_t* tables, std::uint32_t threads);

// For a worksharing construct that has begun: task reductions over it, or nullptr, and memory of
// *memory bytes, if any, that its threads share; *memory becomes its address.
void share_memory_of_work(std::uintptr_t* reductions, void** memory);

}  // namespace terrane::frontend::omp
