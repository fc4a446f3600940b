#pragma once

#include <map>
#include <unordered_map>

#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/found_region.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// An allocation, as every node that met it knows it.
struct Region {
  RegionId id;
  BlockRange blocks;
  std::uint64_t bytes = 0;
  RegionPolicy policy;
  char name[32] = {};
};

// The home that the region's policy gives a block. By first touch: kHomeFirstTouch, with the
// cluster that keeps the directory (found_region.h); for sequential consistency the directory's
// node.
std::uint64_t home_of(const Region& region, std::uint64_t block, const Clusters& clusters);
// A RegionFind's answer: the home and, from bit 40 on, what else the region wants and how many
// blocks behind have the same home (found_region.h).
std::uint64_t found(const Region& region, std::uint64_t block, const Clusters& clusters);
// The allocations of the job. Node 0 cuts the shared space and answers for it; others keep what
// they have asked for until it is freed. A freed range is used again only after every node has
// dropped it twice (a free is a write notice for all): the first time ends its copies, the second
// one does away with what came home from copies meanwhile. Those with sequential consistency lie
// from `sc_first` on.
class RegionTable {
 public:
  RegionTable(NodeId self, const Clusters& clusters, std::uint64_t blocks, std::uint64_t sc_first,
              Outbox& outbox);

  void allocate(const RegionAllocate& request);
  void find(const RegionFind& request);
  void extent(const RegionExtent& request);
  void free(const RegionFree& request);
  void dropped(RegionId region, BlockRange blocks);
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message);

  // The allocation that holds the block, as far as known here.
  const Region* known(std::uint64_t block) const;
  void check_invariants() const;

 private:
  // What a waiter of this node has asked node 0.
  struct Question {
    wire::Kind kind;
    std::uint64_t block = 0;  // kRegionFind
  };

  // Nodes that have done something, each once.
  struct NodeCount {
    std::vector<bool> nodes;
    std::uint32_t count = 0;

    bool add(NodeId node, std::uint32_t all);  // false: it had already
  };

  // Node 0's part. False: no node asks so.
  bool serve_allocate(NodeId from, const wire::RegionAllocate& request, wire::RegionReply& reply);
  wire::RegionReply make_region(NodeId from, const wire::RegionAllocate& request);
  wire::RegionReply serve_find(const wire::RegionFind& request) const;
  wire::RegionStatus serve_free(std::uint64_t first);
  bool take_space(std::uint64_t blocks, Protocol protocol, std::uint64_t& first);
  void give_space(BlockRange blocks);
  void drop_everywhere(RegionId region, BlockRange blocks);
  bool count_dropped(NodeId from, RegionId region);

  void reply(NodeId to, const wire::RegionReply& reply);
  bool accept(const wire::RegionReply& reply);
  bool fits(const wire::RegionReply& reply, const Question& question) const;
  bool accept_freed(const wire::RegionFreed& freed);
  bool received_by_server(NodeId from, wire::Kind kind, Bytes& message);
  bool received_from_server(wire::Kind kind, Bytes& message);
  void forget(BlockRange blocks);
  BlockRange part_for(Protocol protocol) const;

  NodeId self_;
  const Clusters& clusters_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  std::uint64_t sc_first_;
  Outbox& outbox_;
  std::map<std::uint64_t, Region> known_;     // by first block
  std::map<std::uint32_t, Question> asking_;  // by waiter

  std::map<std::uint64_t, std::uint64_t> space_;  // node 0: free blocks, first -> count
  std::map<std::uint64_t, Region> allocated_;     // node 0: what stands, by first block
  // One reply a node, and a node at most once: then the call is over.
  struct Collective {
    wire::RegionReply reply;
    NodeCount asked;
  };
  std::unordered_map<std::uint32_t, Collective> collective_;  // node 0: by sequence
  struct Dropping {
    BlockRange blocks;
    NodeCount done;
    bool again = false;  // when all have done so
  };
  std::unordered_map<std::uint32_t, Dropping> dropping_;  // node 0: by region
  std::uint32_t next_region_ = 1;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
