#pragma once

#include <map>
#include <unordered_map>

#include "protocol/effects.h"
#include "protocol/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// An allocation, as every node that met it knows it.
struct Region {
  RegionId id;
  BlockRange blocks;
  std::uint64_t bytes = 0;
  Homes homes = Homes::kFirstTouch;
  NodeId home;  // kExplicit
  char name[32] = {};
};

// The home that the region's policy gives a block; kHomeFirstTouch when the directory decides.
std::uint64_t home_of(const Region& region, std::uint64_t block, std::uint32_t nodes);

// The allocations of the job. Node 0 cuts the shared space and answers for it; others keep what
// they have asked for until it is freed. A freed range is used again only after every node has
// dropped it (a free is a write notice for all).
class RegionTable {
 public:
  RegionTable(NodeId self, std::uint32_t nodes, std::uint64_t blocks, Outbox& outbox);

  void allocate(const RegionAllocate& request);
  void find(const RegionFind& request);
  void free(const RegionFree& request);
  void dropped(RegionId region, BlockRange blocks);
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message);

  // The allocation that holds the block, as far as known here.
  const Region* known(std::uint64_t block) const;
  void check_invariants() const;

 private:
  // Node 0's part.
  wire::RegionReply serve_allocate(const wire::RegionAllocate& request);
  wire::RegionReply serve_find(const wire::RegionFind& request) const;
  wire::RegionStatus serve_free(std::uint64_t first);
  bool take_space(std::uint64_t blocks, std::uint64_t& first);
  void give_space(BlockRange blocks);
  void count_dropped(RegionId region);

  void reply(NodeId to, const wire::RegionReply& reply);
  void accept(const wire::RegionReply& reply);
  void forget(BlockRange blocks);

  NodeId self_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  Outbox& outbox_;
  std::map<std::uint64_t, Region> known_;          // by first block
  std::map<std::uint32_t, std::uint64_t> asking_;  // waiter -> the block that it asked for

  std::map<std::uint64_t, std::uint64_t> space_;  // node 0: free blocks, first -> count
  std::map<std::uint64_t, Region> allocated_;     // node 0: what stands, by first block
  std::unordered_map<std::uint32_t, wire::RegionReply> collective_;  // node 0: by sequence
  struct Dropping {
    BlockRange blocks;
    std::uint32_t missing;
  };
  std::unordered_map<std::uint32_t, Dropping> dropping_;  // node 0: by region
  std::uint32_t next_region_ = 1;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
