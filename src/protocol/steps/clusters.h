#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How far a node is from another one: on the same host, in the same cluster, in another cluster.
enum class Distance : std::uint8_t { kHost, kCluster, kFar };

// Which nodes of a job form a cluster, and the tree by which a message reaches them. Clusters are
// numbered from 0 in the order of their first nodes. Immutable; any thread may read it.
class Clusters {
 public:
  static constexpr std::uint32_t kMost = 16;

  // hosts, clusters: by node, a number; nullptr: all nodes are on one host, in one cluster.
  Clusters(std::uint32_t nodes, const std::uint32_t* hosts, const std::uint32_t* clusters);

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(members_.size()); }
  std::uint32_t of(NodeId node) const { return places_[node.value].cluster; }
  bool together(NodeId a, NodeId b) const { return of(a) == of(b); }
  Distance distance(NodeId a, NodeId b) const {
    if (!together(a, b)) return Distance::kFar;
    return places_[a.value].host == places_[b.value].host ? Distance::kHost : Distance::kCluster;
  }
  // The nodes of a cluster in ascending order.
  std::span<const NodeId> members(std::uint32_t cluster) const { return members_[cluster]; }
  // The place of a node among the members of its cluster.
  std::uint32_t index(NodeId node) const { return places_[node.value].index; }

  // The tree by which a message from `origin` reaches each node once, and crosses to each other
  // cluster once. In each cluster it is a tree of this arity. Its root is the origin in the
  // origin's cluster and the first member elsewhere; these roots are children of the origin.
  NodeId parent(NodeId node, NodeId origin, std::uint32_t arity) const;
  // Appends the node's children in that tree.
  void add_children(NodeId node, NodeId origin, std::uint32_t arity,
                    std::vector<NodeId>& children) const;

 private:
  struct Place {
    std::uint32_t host = 0;
    std::uint32_t cluster = 0;
    std::uint32_t index = 0;
  };
  // The place of the root of the cluster's tree among its members.
  std::uint32_t first(std::uint32_t cluster, NodeId origin) const {
    return cluster == of(origin) ? index(origin) : 0;
  }
  std::uint32_t rank(NodeId node, NodeId origin) const;

  std::vector<Place> places_;
  std::vector<std::vector<NodeId>> members_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
