#pragma once

#include "protocol/copies/fetches.h"
#include "protocol/copies/memory.h"
#include "protocol/hlrc/misses.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Homes go where there is room. A node with too many homes asks another one to adopt some. That
// node does what a writer in order does (offers.h): it asks for an offer, and takes what is offered
// by swaps. So a request may be late, wrong or lost. Threads of the former home that use a block
// again end its offer, or find it as a copy.
class Adoptions : private PlacesForHomes {
 public:
  Adoptions(NodeState& node, HomeWords& homes, Fetches& fetches, Memory& memory, Misses& misses)
      : node_(node), homes_(homes), fetches_(fetches), memory_(memory), misses_(misses) {}
  Adoptions(const Adoptions&) = delete;

  // For a thread that is about to fault and holds no lock: asks another node to adopt homes of this
  // one, if the predictor says so.
  Task<> relieve(Strand& s);
  bool may_relieve() const {
    if (node_.config.limit == ~0ull) return false;
    HomePressure now = pressure();
    return now.homes > node_.predictor.at_full_node().homes_kept(now);
  }
  // As Hlrc::free_memory.
  Task<> free_memory(Strand& s);
  // As Hlrc::shrink.
  Task<> shrink(Strand& s);
  // As Hlrc::adopt.
  Task<std::uint64_t> adopt(Strand& s, Adopt asked);
  // As Hlrc::room_for_homes.
  std::uint32_t room_for_homes() const;

 private:
  static constexpr std::uint32_t kMostRuns = PostFetch::kMost;
  static constexpr std::uint64_t kRelieved = 64;  // blocks of a request without a predictor

  // Runs of blocks whose locks are held, fetched together.
  struct Batch {
    BlockRange runs[kMostRuns];
    std::uint32_t count = 0;
  };

  Task<> give_to_all(Strand& s, bool all_copies_go);
  Task<std::uint64_t> give(Strand& s, NodeId to, std::uint64_t blocks, bool presses, bool waits);
  BlockRange next_to_go(std::uint64_t most);
  HomePressure pressure() const {
    return {.homes = node_.home_count.load(std::memory_order_relaxed),
            .most = node_.config.most_homes,
            .limit = node_.config.limit};
  }
  bool has_room(std::uint64_t blocks, bool presses) const;
  Task<BlockRange> in_one_region(Strand& s, BlockRange run, std::uint64_t& found);
  Task<Batch> lock_batch(Strand& s, BlockRange& left, std::uint64_t found);
  Task<bool> lock_adopted(Strand& s, std::uint64_t block, std::uint64_t found);
  Task<std::uint64_t> take(Strand& s, BlockRange run, NodeId from);

  // PlacesForHomes
  std::uint32_t nodes() const override { return node_.config.nodes; }
  NodeId self() const override { return node_.config.self; }
  std::uint32_t room(NodeId node) const override { return node_.core.rooms().of(node); }
  std::uint64_t under_way() const override { return node_.core.rooms().under_way(); }
  std::uint32_t distance(NodeId node) const override;

  NodeState& node_;
  HomeWords& homes_;
  Fetches& fetches_;
  Memory& memory_;
  Misses& misses_;
  std::atomic<std::uint64_t> hand_{0};  // the next home to go; a guess
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
