#include "protocol/push/push_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

namespace {

// The cluster of `node` as seen from `self`: 0 for the own one, 1 + its number for another one.
std::uint32_t far_cluster(const Clusters& clusters, NodeId self, NodeId node) {
  return clusters.together(self, node) ? 0 : clusters.of(node) + 1;
}

}  // namespace

void sort_by_cluster(const Clusters& clusters, NodeId self, std::vector<NodeId>& readers) {
  if (clusters.count() == 1) return;
  auto place = [&](NodeId node) {
    return std::pair(far_cluster(clusters, self, node), node.value);
  };
  std::sort(readers.begin(), readers.end(),
            [&](NodeId a, NodeId b) { return place(a) < place(b); });
}

std::vector<Branch> branches_of(const Clusters& clusters, NodeId self,
                                std::span<const NodeId> readers, std::uint32_t arity) {
  std::vector<Branch> branches;
  while (!readers.empty()) {
    std::uint32_t cluster = far_cluster(clusters, self, readers[0]);
    std::size_t together = 1;
    while (together < readers.size() && far_cluster(clusters, self, readers[together]) == cluster) {
      ++together;
    }
    bool far = cluster != 0;
    if (far && together > 1) mark(Mark::kPushEntersCluster);
    std::size_t count = far ? 1 : count_branches(readers.first(together), arity);
    for (std::size_t i = 0; i < count; ++i)
      branches.push_back(branch_of(readers.first(together), count, i));
    if (far && mutant(Mutant::kPushForgetsCluster)) branches.back().further = {};
    readers = readers.subspan(together);
  }
  return branches;
}

bool share_a_link(const Clusters& clusters, NodeId self, std::span<const NodeId> readers) {
  std::uint32_t seen = 0;  // a bit for each cluster
  for (NodeId reader : readers) {
    std::uint32_t bit = 1u << clusters.of(reader);
    if (!clusters.together(self, reader) && (seen & bit) != 0) return true;
    seen |= bit;
  }
  return false;
}

std::uint64_t count_whole(const wire::PagePush& head) {
  if (head.gone != 0) return 0;
  std::uint32_t all = (1u << std::min<std::uint32_t>(head.blocks, 31)) - 1;
  return head.blocks - static_cast<std::uint64_t>(std::popcount(head.same & all));
}

void put_push_head(std::vector<std::byte>& message, const PushPart& part,
                   std::span<const NodeId> further) {
  wire::PagePush head = part.head;
  head.further = static_cast<std::uint32_t>(further.size());
  wire::put(message, head);
  for (NodeId node : further) wire::put(message, node.value);
  for (std::uint32_t version : part.versions) wire::put(message, version);
}

bool take_push_part(Bytes& message, std::uint64_t block_bytes, PushPart& part) {
  if (!wire::take(message, part.head)) return false;
  if (part.head.further > message.size() / sizeof(std::uint32_t)) return false;
  part.further.resize(part.head.further);
  for (NodeId& node : part.further) wire::take(message, node.value);
  part.versions.assign(part.head.gone != 0 ? 0 : part.head.blocks, 0);
  for (std::uint32_t& version : part.versions)
    if (!wire::take(message, version)) return false;
  std::uint64_t bytes = count_whole(part.head) * block_bytes;
  if (message.size() < bytes) return false;
  part.bytes = message.first(bytes);
  message = message.subspan(bytes);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
