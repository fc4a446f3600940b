#pragma once

#include <terrane/pages.h>

#include <cstdint>

#include "image.h"
#include "outcome.h"
#include "solver.h"

namespace restore {

// The shared memory of a job: the same addresses on every node, plain loads and stores everywhere.
struct SharedPicture {
  std::uint8_t* samples = nullptr;   // damaged, written by node 0
  std::uint8_t* mask = nullptr;      // written by node 0
  std::uint8_t* restored = nullptr;  // every worker writes its rows
  double* a = nullptr;               // the two arrays of the Jacobi iteration: every worker
  double* b = nullptr;         // touches its own rows first, so that they have their home there
  RowRange* ranges = nullptr;  // the rows of each worker
  double* changes = nullptr;   // two sets of one slot a worker, for the convergence test
  terrane_counters* counters = nullptr;  // of each node, over the solving alone
};

// Collective, the same arguments on every node.
Outcome<SharedPicture> allocate_shared(std::uint32_t width, std::uint32_t height,
                                       std::uint32_t channels, std::uint32_t workers);

// Node 0 hands the picture out; the others see it after the next barrier.
void publish(const Image& damaged, const Mask& mask, std::uint32_t workers,
             const SharedPicture& shared);

// Every node calls this after that barrier: its `threads` workers restore their rows. Returns after
// all nodes' workers have finished. `watch` is called by the calling thread of every node that
// passes one.
Convergence solve_shared(const Damaged& picture, const SolverSettings& settings,
                         const SharedPicture& shared, std::uint32_t threads, const Watcher& watch);

}  // namespace restore
