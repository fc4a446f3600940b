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

// Which nodes are servers (super-peers): homes of chunks. All nodes are clients. Every node works
// it out by itself, in the same way: the authority is the launcher, which reports deaths to all in
// one order.
class Topology {
 public:
  // `text`: empty: the first node of each host; "3": so many nodes, from all hosts in turn;
  // "0,4,5": these; "4,": this one. `hosts`: of each node.
  // `most_nodes`: all that may ever be in the job; 0: no more than there are.
  static base::Result<Topology> parse(std::string_view text, std::span<const std::uint32_t> hosts,
                                      std::uint32_t most_nodes = 0);

  View first_view() const;
  // Without a node that died or left. The next server that lives is successor of each of its slots,
  // or the first node where no server is left. A node that left had no chunks: nothing is rebuilt.
  View without(const View& before, NodeId gone, bool died = true) const;

  // With a node that has come; it is no server.
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
