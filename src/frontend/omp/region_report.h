#pragma once

#include <cstdint>

#include "frontend/omp/team.h"

// The report of parallel regions that `terrane omp --stats` prints when the program ends, or that
// goes to the event log of --report: what each has cost. Threads count at forks and joins alone. A
// region is a function that the compiler has made of one, and has a number, which node 0 gives.
namespace terrane::frontend::omp {

// Whether and how the user wants it (terrane_program_report). All other functions do nothing where
// not.
unsigned reports();

// The number of a region; on node 0, by the master.
std::uint32_t region_number(Function* function);
// The master is about to fork a team, or has joined it.
void note_fork(std::uint32_t number);
void note_join(std::uint32_t number);
// Any thread of the team, after the fork and after its part of the region. `first`: of its node.
void note_begin(std::uint32_t number, bool first);
void note_end(std::uint32_t number);
// The calling thread runs a task; it has got one from another node.
void note_task();
void note_moved_task();
// A worker that waits for a fork has heard of something else than a region.
void note_pause(bool first);

}  // namespace terrane::frontend::omp
