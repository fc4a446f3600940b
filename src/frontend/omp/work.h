#pragma once

#include <cstdint>

#include "frontend/omp/team.h"

// Worksharing constructs, for the calling thread in its region. A thread goes through them in the
// order of the program, as all threads of its team do.
namespace terrane::frontend::omp {

// Iterations of a loop over signed numbers, with a step of either sign.
Range range_of(long start, long end, long step);
// Over unsigned numbers; the step of one that counts down is given as a negative number is.
Range range_of(bool counts_up, std::uint64_t start, std::uint64_t end, std::uint64_t step);

// The schedule by its number in an omp_sched_t, with what OMP_SCHEDULE or omp_set_schedule says in
// place of kRuntime.
Plan plan_of(std::uint32_t schedule, std::uint64_t chunk, bool is_ordered);

// Begins a loop or sections. The thread has no iterations yet.
void begin_work(const Range& range, const Plan& plan);
// The next iterations of this thread: from `first` up to, but not with, `end`. False: there are no
// more.
bool next_chunk(std::uint64_t& first, std::uint64_t& end);
// Ends it for this thread.
void end_work();
// The same, and waits for all threads of the team.
void end_work_and_wait();

// Whether the calling thread is the one that runs this `single`.
bool begin_single();

// Waits for the iterations before those of this thread.
void wait_for_turn();

// A doacross loop: begins with so many dimensions of these extents. What iteration of it is done;
// waits until one is. Iterations are counted from 0 in each dimension.
void begin_doacross(unsigned dimensions, const std::uint64_t* extents, Plan plan);
void post_doacross(const std::uint64_t* iteration);
void wait_doacross(const std::uint64_t* iteration);
// Ends the doacross loop that the calling thread is in, if any.
void end_doacross();

// A taskgroup of the calling thread's task.
void begin_group();
void end_group();

// Memory of zeros for all threads of the construct that has begun.
void* block_of_work(std::size_t bytes);

}  // namespace terrane::frontend::omp
