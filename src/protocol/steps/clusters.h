#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How far a node is from another one.
enum class Distance : std::uint8_t { kHost, kCluster, kFar };

// Which nodes of a job form a cluster, and how they pass a message on inside of it. Clusters are
// numbered from 0 in the order of their first nodes. Owns that.
class Clusters {
 public:
  static constexpr std::uint32_t kMost = 16;

  // hosts, clusters: by node; nullptr: all nodes are on one host, in one cluster.
  Clusters(std::uint32_t nodes, const std::uint32_t* hosts, const std::uint32_t* clusters);

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(members_.size()); }
  std::uint32_t of(NodeId node) const { return places_[node.value].cluster; }
  bool together(NodeId a, NodeId b) const { return of(a) == of(b); }
  Distance distance(NodeId a, NodeId b) const {
    if (!together(a, b)) return Distance::kFar;
    return places_[a.value].host == places_[b.value].host ? Distance::kHost : Distance::kCluster;
  }
  // In the order of their numbers.
  std::span<const NodeId> members(std::uint32_t cluster) const { return members_[cluster]; }
  // Of a node among the members of its cluster.
  std::uint32_t index(NodeId node) const { return places_[node.value].index; }

  // The tree in which a message from `origin` reaches each node once, and each other cluster once:
  // a tree of this arity in the origin's cluster, and below the origin one for each other cluster,
  // with that cluster's first member at its root.
  NodeId parent(NodeId node, NodeId origin, std::uint32_t arity) const;
  // Appends them.
  void add_children(NodeId node, NodeId origin, std::uint32_t arity,
                    std::vector<NodeId>& children) const;

 private:
  struct Place {
    std::uint32_t host = 0;
    std::uint32_t cluster = 0;
    std::uint32_t index = 0;
  };
  // Where a cluster's tree begins.
  std::uint32_t first(std::uint32_t cluster, NodeId origin) const {
    return cluster == of(origin) ? index(origin) : 0;
  }
  std::uint32_t rank(NodeId node, NodeId origin) const;

  std::vector<Place> places_;
  std::vector<std::vector<NodeId>> members_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
