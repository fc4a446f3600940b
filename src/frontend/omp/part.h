#pragma once

#include <cstdint>

#include "frontend/omp/places.h"
#include "frontend/omp/team.h"

// A parallel region, as the thread that begins it describes it to the others of its team.
namespace terrane::frontend::omp {

// What the compiler's call says.
struct Parallel {
  Function* function;
  void* data;
  std::uint32_t wanted;      // threads; 0: as many as the control variables say
  const LoopBegin* begin;    // a loop that all threads begin with, or nullptr
  unsigned flags = 0;        // the number of the clause proc_bind
  Function* name = nullptr;  // what the region is in reports; nullptr: the function
};

// What a thread needs for its part of the region. Plain data: it may travel in shared memory.
struct Part {
  Function* function;
  void* data;
  Controls controls;
  LoopBegin begin;
  std::uint32_t has_begin;
  std::uintptr_t* reductions;
  std::int32_t team_number, teams;  // of the master's league
  std::uint64_t floating_point;     // the control of the master's
  Bind bind;
};

// Fills in a part of zeros. By the master, before it enters the region.
void describe(const Parallel& parallel, Part& part);
// The control variables of the tasks of a region that the calling thread is about to enter.
Controls controls_within(unsigned flags);

// A region within `outer` by a team of so many threads, for the thread of that number.
Region make_region(Region* outer, std::uint32_t number, std::uint32_t size);
// Runs the part of a thread of the team that is not the master. `within`: the places of the team.
void run_part(const Part& part, Region& own, const Seat& within);

// Starts a thread of OpenMP on a node, which never ends. Ends the program where it cannot.
void start_thread(std::uint32_t node, void* (*function)(void*), void* argument);

}  // namespace terrane::frontend::omp
