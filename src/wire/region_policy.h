#pragma once

#include <cstdint>

namespace terrane::wire {

// Where the blocks of a region have their home.
enum class Homes : std::uint8_t {
  kFirstTouch = 0,  // the first writer; argument: 0, or 1 + the cluster that keeps the directory
  kBlock = 1,
  kCyclic = 2,
  kExplicit = 3,     // argument: the node
  kBlockCyclic = 4,  // argument: how many blocks in a row, from 1
  kCluster = 5,      // argument: the cluster, to whose nodes the blocks go in equal parts
};

// Which protocol keeps a region coherent.
enum class Protocol : std::uint8_t {
  kHlrc = 0,  // lazy release consistency: an acquire drops copies of what other nodes changed
  kErc = 1,   // eager: a release ends when all copies of the blocks that it changed are dropped
  kSc = 2,    // sequential consistency: one writer or many readers of a block
};

// What an acquire does with a copy of a block that other nodes changed.
enum class Propagation : std::uint8_t {
  kAdaptive = 0,    // the predictor decides
  kInvalidate = 1,  // it drops the copy
  kUpdate = 2,      // it updates the copy
};

// The policies of a region, in the layout of the messages. Fields that come from the network may
// hold any value.
struct RegionPolicy {
  Homes homes = Homes::kFirstTouch;
  Protocol protocol = Protocol::kHlrc;
  Propagation propagation = Propagation::kAdaptive;
  std::uint8_t pad = 0;
  std::uint32_t argument = 0;

  bool operator==(const RegionPolicy&) const = default;
};
static_assert(sizeof(RegionPolicy) == 8);

// Whether a region can have this policy in a job of `nodes` nodes in `clusters` clusters.
constexpr bool is_valid(const RegionPolicy& policy, std::uint32_t nodes, std::uint32_t clusters) {
  if (policy.homes > Homes::kCluster || policy.protocol > Protocol::kSc ||
      policy.propagation > Propagation::kUpdate || policy.pad != 0) {
    return false;
  }
  switch (policy.homes) {
    case Homes::kExplicit:
      return policy.argument < nodes;
    case Homes::kBlockCyclic:
      return policy.argument > 0;
    case Homes::kCluster:
      return policy.argument < clusters;
    case Homes::kFirstTouch:
      return policy.argument <= clusters;
    default:
      return policy.argument == 0;
  }
}

}  // namespace terrane::wire
