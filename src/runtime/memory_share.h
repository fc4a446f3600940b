#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/options.h"

namespace terrane::runtime {

// What a node says of its memory when the job begins.
struct MemoryCard {
  std::uint64_t asked_bytes = 0;    // TERRANE_MEMORY, or ~0
  std::uint64_t machine_bytes = 0;  // that its machine could give out
  std::uint64_t group_bytes = 0;    // that its tightest control group would let it use, or ~0
  std::uint64_t group = 0;          // which one that is, on its host
};

MemoryCard memory_card(const Options& options);

// How much shared memory a node keeps, in bytes.
struct MemoryShare {
  std::uint64_t limit_bytes = ~0ull;  // copies and twins go beyond it
  std::uint64_t home_bytes = ~0ull;   // pages whose home the node is, which cannot go, at most
};

// What was asked for; else most of what the node's machine and its control group have left, of
// which homes may take all, and the limit is that divided by the nodes that share it. hosts: by
// node.
std::vector<MemoryShare> memory_shares(std::span<const MemoryCard> cards,
                                       std::span<const std::uint32_t> hosts);

}  // namespace terrane::runtime
