#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace terrane::runtime::shmem {

// The PEs of a team: every `stride`-th PE of the world from `start` on. All splits of such teams
// have such shapes too. Only the PEs of one host may have no such order; then they are listed.
struct TeamShape {
  std::uint32_t start = 0;
  std::int32_t stride = 1;
  std::uint32_t size = 1;
  // If not nullptr: the PEs in the team's order, in place of start and stride. Owned by the Teams;
  // valid while the team and its splits exist.
  const std::vector<NodeId>* listed = nullptr;

  // The world's number of member `member` of the team; member < size.
  NodeId world_pe(std::uint32_t member) const {
    if (listed != nullptr) return (*listed)[member];
    return NodeId{start + static_cast<std::uint32_t>(static_cast<std::int32_t>(member) * stride)};
  }
  // The team's number of a PE of the world, or -1.
  std::int64_t member(NodeId world_pe) const {
    if (listed != nullptr) return place_in_list(world_pe);
    std::int64_t distance = std::int64_t{world_pe.value} - std::int64_t{start};
    if (stride == 0) return distance == 0 ? 0 : -1;
    if (distance % stride != 0) return -1;
    std::int64_t found = distance / stride;
    return found >= 0 && found < std::int64_t{size} ? found : -1;
  }

 private:
  std::int64_t place_in_list(NodeId world_pe) const {
    for (std::uint32_t i = 0; i < size; ++i) {
      if ((*listed)[i] == world_pe) return i;
    }
    return -1;
  }
};

}  // namespace terrane::runtime::shmem
