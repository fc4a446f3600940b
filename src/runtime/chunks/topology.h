#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/chunks/chunk_effects.h"

namespace terrane::runtime::chunks {

using protocol::chunks::View;

// Which nodes are servers (super-peers), the homes of chunks. All nodes are clients. Every node
// computes the same result by itself. The authority is the launcher: it reports deaths to all nodes
// in one order.
class Topology {
 public:
  // text: empty: the first node of each host; "3": that many nodes, from all hosts in turn;
  // "0,4,5": these nodes; "4,": only this node. hosts: the host of each node. most_nodes: the
  // number of nodes that may ever be in the job; 0: no more than there are.
  static base::Result<Topology> parse(std::string_view text, std::span<const std::uint32_t> hosts,
                                      std::uint32_t most_nodes = 0);

  View first_view() const;
  // The view without a node that died or left. Its slots are divided among the live servers, or go
  // to the first node if no server is left. A node that left had no chunks: nothing is rebuilt.
  View without(const View& before, NodeId gone, bool died = true) const;

  // The view with a node that has joined; it is no server.
  View with(const View& before, NodeId newcomer) const;

  const std::vector<NodeId>& servers() const { return servers_; }
  std::string describe() const;

 private:
  Topology(std::vector<NodeId> servers, std::uint32_t nodes, std::uint32_t most_nodes)
      : servers_(std::move(servers)), nodes_(nodes), most_nodes_(std::max(nodes, most_nodes)) {}

  std::vector<NodeId> servers_;
  std::uint32_t nodes_, most_nodes_;
};

}  // namespace terrane::runtime::chunks
