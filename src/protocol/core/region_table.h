#pragma once

#include <map>
#include <unordered_map>

#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/found_region.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// An allocation, as the nodes know it that asked for it.
struct Region {
  RegionId id;
  BlockRange blocks;
  std::uint64_t bytes = 0;
  RegionPolicy policy;
  char name[32] = {};
};

// The home that the region's policy gives to a block. By first touch: kHomeFirstTouch, with the
// cluster that keeps the directory (found_region.h). With sequential consistency and first touch:
// the directory node.
std::uint64_t home_of(const Region& region, std::uint64_t block, const Clusters& clusters);
// The answer to a RegionFind (found_region.h): the home and, from bit 40 on, the rest of the policy
// and the number of blocks from this one on with the same home.
std::uint64_t found(const Region& region, std::uint64_t block, const Clusters& clusters);
// The allocations of the job. Node 0 allocates ranges of the shared space; other nodes ask it, and
// keep its answers until the region is freed. A freed range is used again only after every node has
// dropped it twice (a free is a write notice for all): the first drop ends all copies; the second
// one deletes what was flushed to homes in between. Regions with sequential consistency lie from
// block `sc_first` on, all others before.
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

  // The allocation that contains the block, or nullptr if it is not known here.
  const Region* known(std::uint64_t block) const;
  void check_invariants() const;

 private:
  // A request of a waiter of this node to node 0.
  struct Question {
    wire::Kind kind;
    std::uint64_t block = 0;  // of a kRegionFind
  };

  // The nodes that have done something; each counts once.
  struct NodeCount {
    std::vector<bool> nodes;
    std::uint32_t count = 0;

    bool add(NodeId node, std::uint32_t all);  // false: this node has been counted already
  };

  // Node 0's part. False: no node sends such a request.
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
  std::map<std::uint64_t, Region> allocated_;     // node 0: live regions, by first block
  // A collective allocation: each node asks once and gets the same reply; then it is complete.
  struct Collective {
    wire::RegionReply reply;
    NodeCount asked;
  };
  std::unordered_map<std::uint32_t, Collective> collective_;  // node 0: by sequence number
  struct Dropping {
    BlockRange blocks;
    NodeCount done;
    bool again = false;  // a second drop follows when all nodes have dropped once
  };
  std::unordered_map<std::uint32_t, Dropping> dropping_;  // node 0: by region
  std::uint32_t next_region_ = 1;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
