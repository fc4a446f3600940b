#pragma once

#include "runtime/shmem/reach.h"

namespace terrane::runtime::shmem {

// The locks of the specification: a `long` that is 0 at every PE while no PE has the lock. First
// come, first served, by a queue in the lock's words at the PEs themselves. At the lock's home PE
// the low half names the last PE in the queue. At each PE the high half names its successor and
// says whether the PE still waits; a PE that waits reads only its own memory.
//
// `lock` is symmetric, else the job ends. `threads`: several threads of this PE may use the lock at
// once (SHMEM_THREAD_MULTIPLE); they first choose which of them waits in the queue. If a PE sets a
// lock that it holds, it would wait for itself, so the job ends. set_lock waits; test_lock returns
// whether it got the lock. clear_lock is ordered after all earlier puts of the PE to its own host;
// the caller must complete puts to other hosts.
void set_lock(World& world, long* lock, bool threads);
bool test_lock(World& world, long* lock, bool threads);
void clear_lock(World& world, long* lock, bool threads);

}  // namespace terrane::runtime::shmem
