#pragma once

#include <terrane/pages.h>

#include <cstdint>
#include <vector>

#include "outcome.h"
#include "panel.h"

namespace lu {

// The shared memory of a job: the same addresses on every node. Each panel is an allocation of its
// own, with its home on the node of the worker who updates it.
struct SharedMatrix {
  Shape shape;
  std::vector<Panel> panels;
  terrane_counters* counters = nullptr;  // of each node, over the factorisation alone
};

// Collective, the same arguments on every node.
Outcome<SharedMatrix> allocate_shared(std::uint32_t size, std::uint32_t threads);

// Collective: every node's `threads` workers factor their panels; returns after all have finished.
// 0, or 1 + the first column without a pivot.
std::uint64_t factor_shared(const SharedMatrix& shared, std::uint32_t threads);

}  // namespace lu
