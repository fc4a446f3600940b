#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/predict/tunables.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"

// A push to many readers goes along a tree: the home sends it to a few readers, each with a part of
// the other readers, and each of these nodes does the same. A home with a thousand readers sends as
// many messages as one with four.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A reader to which a push goes, and the readers to which that one passes it on.
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
  if (mutant(Mutant::kPushForgetsReader) && !others.empty())
    others = others.first(others.size() - 1);
  return {readers[first], others};
}

// Sorts the readers by cluster; those in the cluster of `self` come first.
void sort_by_cluster(const Clusters& clusters, NodeId self, std::vector<NodeId>& readers);
// The readers to which `self` sends a push, each with those to which it passes the push on: as
// branch_of() in the own cluster, and one reader of each other cluster, for all readers there. The
// readers are in the order of sort_by_cluster().
std::vector<Branch> branches_of(const Clusters& clusters, NodeId self,
                                std::span<const NodeId> readers, std::uint32_t arity);
// Whether two of the readers are in one cluster, other than that of `self`.
bool share_a_link(const Clusters& clusters, NodeId self, std::span<const NodeId> readers);

// One run of a wire::PagePush message.
struct PushPart {
  wire::PagePush head;
  std::vector<NodeId> further;
  std::vector<std::uint32_t> versions;  // of the blocks; none if the home has to be asked
  Bytes bytes;                          // in the message: of the blocks that are not `same`
};

// How many of the blocks have their bytes in the message.
std::uint64_t count_whole(const wire::PagePush& head);
// Appends the part, without its bytes, for the receiver that passes it on to `further`.
void put_push_head(std::vector<std::byte>& message, const PushPart& part,
                   std::span<const NodeId> further);
// Takes one part off the message. False: the message is too short.
bool take_push_part(Bytes& message, std::uint64_t block_bytes, PushPart& part);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
