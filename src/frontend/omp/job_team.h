#pragma once

#include <cstdint>

#include "frontend/omp/part.h"

// Teams of the job. Node 0's first thread is the master. Workers are started once and wait at a
// barrier for the next region. A team of any size is dealt in blocks to the nodes, and a thread's
// number follows from its node and its place there.
namespace terrane::frontend::omp {

// Whether the next region of the calling thread has such a team.
bool begins_job_team();

// Begins a region by `size` threads, more than one, which becomes the calling thread's. The master
// then runs its part, and joins.
void fork_job(const Parallel& parallel, std::uint32_t size, Region& region);
void join_job(const Region& region, Function* name);

// Calls function(data) by one thread of each node, and waits for all of them. By the master,
// outside of all regions.
void run_on_each_node(Function* function, void* data);

// How many of `total` threads that are dealt to the nodes one of them has; the node of a thread.
std::uint32_t share(std::uint32_t total, std::uint32_t node);
std::uint32_t node_of_thread(std::uint32_t thread, std::uint32_t size);

}  // namespace terrane::frontend::omp
