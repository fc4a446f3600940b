#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/options.h"

namespace terrane::runtime {

// What a node sends about its memory when the job begins.
struct MemoryCard {
  std::uint64_t asked_bytes = 0;    // TERRANE_MEMORY, or ~0
  std::uint64_t machine_bytes = 0;  // that its machine has available
  std::uint64_t group_bytes = 0;    // that its tightest control group still permits, or ~0
  std::uint64_t group = 0;          // identifies that control group on the host
};

MemoryCard memory_card(const Options& options);

// How much shared memory a node keeps, in bytes.
struct MemoryShare {
  std::uint64_t limit_bytes = ~0ull;  // beyond it copies and twins are evicted
  std::uint64_t home_bytes = ~0ull;   // most for pages of this home, which cannot be evicted
};

// The share of each node: the size that was asked for, or else most of what the node's machine and
// control group have left. Homes may take all of that; limit_bytes is that divided by the number of
// nodes that share it. `hosts`: the host of each node.
std::vector<MemoryShare> memory_shares(std::span<const MemoryCard> cards,
                                       std::span<const std::uint32_t> hosts);

// What a node that keeps so much may keep where its machine and control groups would let it use
// `headroom` more; negative: so much has to go. Never more than at the start, nor less than a
// sixteenth of that.
MemoryShare share_now(const MemoryShare& at_start, std::uint64_t kept_bytes,
                      std::int64_t headroom_bytes);

}  // namespace terrane::runtime
