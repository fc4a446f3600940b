#pragma once

#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"

// The fields of the answer to a RegionFind (core/region_table.h: found), and the nodes that keep a
// block's owner.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

inline std::uint64_t home_found(std::uint64_t answer) { return answer & ((1ull << 40) - 1); }
inline Protocol protocol_found(std::uint64_t answer) {
  return static_cast<Protocol>(answer >> 40 & 0xf);
}
inline Propagation propagation_found(std::uint64_t answer) {
  return static_cast<Propagation>(answer >> 44 & 0xf);
}
// together_found: how many blocks from the requested one on have the same home by the region's
// policy; 0: homes by first touch.
inline constexpr std::uint64_t kMostFoundTogether = (1u << 16) - 1;
inline std::uint64_t together_found(std::uint64_t answer) { return answer >> 48; }

// For a home by first touch. directory_found: which nodes keep the owners of the blocks; 0: all
// nodes, else 1 + the number of a cluster.
inline bool is_first_touch(std::uint64_t home) { return home & kHomeFirstTouch; }
inline std::uint32_t directory_found(std::uint64_t home) {
  return static_cast<std::uint32_t>(home & ~kHomeFirstTouch);
}
// The directory node of a block: it keeps the block's owner.
inline constexpr std::uint64_t kDirectoryRun = 64;  // adjacent blocks with the same directory node
inline NodeId directory_of(std::uint64_t block, const Clusters& clusters, std::uint32_t directory) {
  std::uint64_t run = block / kDirectoryRun;
  if (directory == 0) return NodeId{static_cast<std::uint32_t>(run % clusters.nodes())};
  std::span<const NodeId> members = clusters.members(directory - 1);
  return members[run % members.size()];
}
// The end of the adjacent blocks that have the same directory node as this one.
constexpr std::uint64_t directory_end(std::uint64_t block) {
  return (block / kDirectoryRun + 1) * kDirectoryRun;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
