#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/predict/tunables.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"

// News for many readers of a run go along a tree: the home sends them to a few, each with the
// readers that are left to it, and who receives them does the same. A home of a thousand readers
// sends as often as one of four.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Of the readers one, to which a push goes, and those to which it passes the push on.
struct Branch {
  NodeId to;
  std::span<const NodeId> further;
};
inline std::size_t count_branches(std::span<const NodeId> readers, std::uint32_t arity) {
  return std::min<std::size_t>(arity, readers.size());
}
inline Branch branch_of(std::span<const NodeId> readers, std::size_t branches, std::size_t index) {
  std::size_t first = readers.size() * index / branches;
  std::size_t end = readers.size() * (index + 1) / branches;
  std::span<const NodeId> others = readers.subspan(first + 1, end - first - 1);
  if (mutant(Mutant::kNewsForgetReader) && !others.empty())
    others = others.first(others.size() - 1);
  return {readers[first], others};
}

// Puts readers of one cluster beside each other, those near to `self` first.
void sort_by_cluster(const Clusters& clusters, NodeId self, std::vector<NodeId>& readers);
// To how many of these readers a push goes from `self`, and each with those to which it passes the
// push on: as above in the own cluster, and to one reader of each other cluster, for all of its
// readers. The readers are in the order of sort_by_cluster.
std::vector<Branch> branches_of(const Clusters& clusters, NodeId self,
                                std::span<const NodeId> readers, std::uint32_t arity);
// Whether two of them are in a cluster that is not the one of `self`.
bool share_a_link(const Clusters& clusters, NodeId self, std::span<const NodeId> readers);

// One run of a wire::PagePush message.
struct PushPart {
  wire::PagePush head;
  std::vector<NodeId> further;
  std::vector<std::uint32_t> versions;  // of the blocks; none where the home has to be asked
  Bytes bytes;                          // of the message: of the blocks that are not the same
};

// How many of the blocks come with their bytes.
std::uint64_t count_whole(const wire::PagePush& head);
// Appends it, but for its bytes, for the receiver that passes it on to `further`.
void put_push_head(std::vector<std::byte>& message, const PushPart& part,
                   std::span<const NodeId> further);
// Takes one run off the message; false: it is too short.
bool take_push_part(Bytes& message, std::uint64_t block_bytes, PushPart& part);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
