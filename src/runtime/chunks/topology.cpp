#include "runtime/chunks/topology.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint32_t kSlots = 64;        // at least this many, so that homes are spread evenly
constexpr std::uint32_t kMostSlots = 4095;  // a chunk's number has no room for more

// The first node of each host, then the second of each, and so on.
std::vector<NodeId> in_turn(std::span<const std::uint32_t> hosts) {
  std::vector<std::uint32_t> rank(hosts.size());
  std::vector<std::uint32_t> seen(hosts.size());
  for (std::size_t n = 0; n < hosts.size(); ++n) rank[n] = seen[hosts[n]]++;
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < hosts.size(); ++n) all.push_back(NodeId{n});
  std::stable_sort(all.begin(), all.end(),
                   [&](NodeId a, NodeId b) { return rank[a.value] < rank[b.value]; });
  return all;
}

bool parse_number(std::string_view text, std::uint32_t& number) {
  auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  return bad == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

base::Result<Topology> Topology::parse(std::string_view text, std::span<const std::uint32_t> hosts,
                                       std::uint32_t most_nodes) {
  auto nodes = static_cast<std::uint32_t>(hosts.size());
  std::uint32_t count = 0;
  if (text.empty()) count = 1 + *std::max_element(hosts.begin(), hosts.end());
  if (text.empty() || parse_number(text, count)) {
    if (count < 1 || count > nodes || count > kMostSlots)
      return base::error("{} servers: a job of {} nodes has 1 to {}", count, nodes,
                         std::min(nodes, kMostSlots));
    std::vector<NodeId> servers = in_turn(hosts);
    servers.resize(count);
    return Topology(std::move(servers), nodes, most_nodes);
  }
  std::vector<NodeId> servers;
  bool alone = text.find(',') == text.size() - 1;  // "4,": only this node; "4": four servers
  for (std::size_t at = 0; at < text.size() + (alone ? 0 : 1);) {
    std::size_t end = std::min(text.find(',', at), text.size());
    std::uint32_t node = 0;
    std::string_view one = text.substr(at, end - at);
    if (!parse_number(one, node))
      return base::error("servers '{}': '{}' is no node; give a number of servers, or nodes: 0,4",
                         text, one);
    if (node >= nodes)
      return base::error("servers '{}': there is no node {}, the job has {} nodes", text, node,
                         nodes);
    if (std::find(servers.begin(), servers.end(), NodeId{node}) != servers.end())
      return base::error("servers '{}': node {} is named twice", text, node);
    servers.push_back(NodeId{node});
    at = end + 1;
  }
  return Topology(std::move(servers), nodes, most_nodes);
}

View Topology::first_view() const {
  View view;
  view.epoch = 1;
  for (std::uint32_t n = 0; n < nodes_; ++n) view.members.push_back(NodeId{n});
  auto count = static_cast<std::uint32_t>(servers_.size());
  std::uint32_t each = count >= kSlots ? 1 : kSlots / count;
  for (std::uint32_t s = 0; s < each * count; ++s)
    view.slots.push_back({.home = servers_[s % count]});
  view.names = each * count;
  for (std::uint32_t n = 0; n < most_nodes_ && view.slots.size() < kMostSlots; ++n)
    view.slots.push_back({.home = NodeId{n}});
  return view;
}

View Topology::without(const View& before, NodeId gone, bool died) const {
  View view = before;
  ++view.epoch;
  std::erase(view.members, gone);
  std::size_t at = 0;
  for (View::Slot& slot : view.slots) {
    if (slot.home != gone || view.members.empty()) continue;
    // Its slots are divided among the live servers.
    NodeId next = view.members.front();
    for (std::size_t tries = 0; tries < servers_.size(); ++tries) {
      NodeId server = servers_[at++ % servers_.size()];
      if (!view.has(server)) continue;
      next = server;
      break;
    }
    slot = {.home = next, .since = died ? view.epoch : slot.since};
  }
  return view;
}

View Topology::with(const View& before, NodeId newcomer) const {
  View view = before;
  ++view.epoch;
  auto at = std::lower_bound(view.members.begin(), view.members.end(), newcomer);
  view.members.insert(at, newcomer);
  return view;
}

std::string Topology::describe() const {
  std::string text;
  for (NodeId server : servers_) text += fmt::format("{}{}", text.empty() ? "" : ",", server.value);
  return text;
}

}  // namespace terrane::runtime::chunks
