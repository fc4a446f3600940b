#include "protocol/steps/clusters.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Clusters::Clusters(std::uint32_t nodes, const std::uint32_t* hosts, const std::uint32_t* clusters)
    : places_(nodes) {
  std::vector<std::uint32_t> numbers;  // the caller's, in the order of their first nodes
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::uint32_t number = clusters == nullptr ? 0 : clusters[node];
    auto at = std::find(numbers.begin(), numbers.end(), number);
    auto cluster = static_cast<std::uint32_t>(at - numbers.begin());
    if (at == numbers.end()) {
      numbers.push_back(number);
      members_.emplace_back();
    }
    places_[node] = {hosts == nullptr ? 0 : hosts[node], cluster,
                     static_cast<std::uint32_t>(members_[cluster].size())};
    members_[cluster].emplace_back(node);
  }
  TERRANE_CHECK(count() <= kMost, "a job has few clusters");
}

std::uint32_t Clusters::rank(NodeId node, NodeId origin) const {
  auto size = static_cast<std::uint32_t>(members_[of(node)].size());
  return (index(node) + size - first(of(node), origin)) % size;
}

NodeId Clusters::parent(NodeId node, NodeId origin, std::uint32_t arity) const {
  std::uint32_t place = rank(node, origin);
  if (place == 0) return node == origin ? kNoNode : origin;
  auto& members = members_[of(node)];
  return members[((place - 1) / arity + first(of(node), origin)) % members.size()];
}

void Clusters::add_children(NodeId node, NodeId origin, std::uint32_t arity,
                            std::vector<NodeId>& children) const {
  if (node == origin)
    for (std::uint32_t cluster = 0; cluster < count(); ++cluster)
      if (cluster != of(origin)) children.push_back(members_[cluster][0]);
  auto& members = members_[of(node)];
  std::uint64_t from = std::uint64_t{rank(node, origin)} * arity + 1;
  for (std::uint64_t place = from; place < from + arity && place < members.size(); ++place)
    children.push_back(members[(place + first(of(node), origin)) % members.size()]);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
