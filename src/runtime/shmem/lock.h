#pragma once

#include "runtime/shmem/reach.h"

namespace terrane::runtime::shmem {

// The locks of the specification: a `long` that is 0 at every PE while nobody has the lock. First
// come, first served: a queue through the lock's words at the PEs themselves. At the lock's home PE
// the low half names the last one in the queue; at each PE the high half names its successor and
// says whether it still waits, which it does by looking at its own memory only.
//
// `lock` is symmetric, else the job ends. `threads`: several threads of this PE may use the lock at
// once (SHMEM_THREAD_MULTIPLE); they first agree among themselves which of them waits in the queue.
// A PE that sets a lock which it holds would wait for itself: the job ends. set_lock waits;
// test_lock returns whether it got the lock. clear_lock comes after everything that the PE put
// before (the caller has to see to puts to other hosts).
void set_lock(World& world, long* lock, bool threads);
bool test_lock(World& world, long* lock, bool threads);
void clear_lock(World& world, long* lock, bool threads);

}  // namespace terrane::runtime::shmem
