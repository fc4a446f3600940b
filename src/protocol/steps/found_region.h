#pragma once

#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"

// What the answer to a RegionFind holds (core/region_table.h: found), and who keeps a block's
// owner.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

inline std::uint64_t home_found(std::uint64_t answer) { return answer & ((1ull << 40) - 1); }
inline Protocol protocol_found(std::uint64_t answer) {
  return static_cast<Protocol>(answer >> 40 & 0xf);
}
inline Propagation propagation_found(std::uint64_t answer) {
  return static_cast<Propagation>(answer >> 44 & 0xf);
}
// How many blocks from that one on have the same home by the region's policy; 0: by first touch.
inline constexpr std::uint64_t kMostFoundTogether = (1u << 16) - 1;
inline std::uint64_t together_found(std::uint64_t answer) { return answer >> 48; }

// A home by first touch: which nodes keep the block's owner; 0: all, else 1 + their cluster.
inline bool is_first_touch(std::uint64_t home) { return home & kHomeFirstTouch; }
inline std::uint32_t directory_found(std::uint64_t home) {
  return static_cast<std::uint32_t>(home & ~kHomeFirstTouch);
}
// The node that keeps a block's owner where homes are by first touch.
inline constexpr std::uint64_t kDirectoryRun = 64;  // blocks in a row
inline NodeId directory_of(std::uint64_t block, const Clusters& clusters, std::uint32_t directory) {
  std::uint64_t run = block / kDirectoryRun;
  if (directory == 0) return NodeId{static_cast<std::uint32_t>(run % clusters.nodes())};
  std::span<const NodeId> members = clusters.members(directory - 1);
  return members[run % members.size()];
}
// The end of the blocks from this one on that one node keeps.
constexpr std::uint64_t directory_end(std::uint64_t block) {
  return (block / kDirectoryRun + 1) * kDirectoryRun;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
