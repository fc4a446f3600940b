#pragma once

#include "protocol/copies/fetches.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The pipelined requests of a miss that fetches more blocks than one message has: what was
// requested behind the first blocks, and is not entered yet. These blocks are locked, and among the
// copies. As soon as one request is answered, the next is made, up to the end.
struct Pipeline {
  static constexpr std::uint32_t kMost = PostFetch::kMost;

  BlockRange runs[kMost];  // in their order
  std::uint32_t count = 0;
  std::uint32_t most = 0;  // requests under way at once
  BlockRange next;         // the next request begins here; count 0
  std::uint64_t end = 0;   // no request goes beyond this block
  NodeId home;
  Access wanted{};               // of the blocks whose home comes here
  std::uint64_t extent_end = 0;  // of the allocation
  std::uint64_t miss_end = 0;    // of what the miss itself fetched
};

// One miss under way: what a directory named, and the pipelined requests.
struct MissUnderWay {
  BlockRange same_owner{};  // blocks that a directory named last, with one owner
  Pipeline pipeline;
  bool seals = false;       // what comes enters sealed
  std::uint64_t skips = 0;  // how many blocks that are here the stream passes over

  bool names(std::uint64_t block) const {
    return same_owner.first <= block && block < same_owner.end();
  }
};

// Misses: makes a copy of another node's block, and of further blocks as the predictor says: those
// that follow, in the same request (prefetch.cpp); those of pipelined requests (pipeline.cpp); and
// blocks before it.
class Misses {
 public:
  Misses(NodeState& node, HomeWords& homes, Fetches& fetches)
      : node_(node), homes_(homes), fetches_(fetches) {}
  Misses(const Misses&) = delete;

  // The home is another node, or no node yet (kNoNode), or has moved away from here: makes a copy
  // of the block, whose lock is held, and of further blocks, as the predictor says. Unlocks them.
  // unmissed: 0, or how many blocks are prefetched although no thread has missed one.
  Task<FaultResult> fault_elsewhere(Strand& s, std::uint64_t block, Access wanted, NodeId home,
                                    std::uint64_t unmissed, MissUnderWay& under_way);
  // After a miss: prefetches blocks before this one, if the predictor says so.
  Task<> prefetch_before(Strand& s, std::uint64_t block, MissUnderWay& under_way);
  // Blocks of which this node has become the home enter the view, protected (kRead) or writable.
  // Then other nodes find them here. Their locks are held.
  Task<> enter_homes(Strand& s, BlockRange run, Access wanted);
  // Blocks that were to come did not. Unlocks them.
  Task<> leave_out(Strand& s, BlockRange blocks);

 private:
  Task<BlockState> fault_copy(Strand& s, BlockRange& run, Access wanted, NodeId home,
                              std::uint64_t unmissed, MissUnderWay& under_way);
  Miss miss_of(std::uint64_t block, Access wanted, NodeId home) const;
  Access access_of_homes(const Miss& miss) const;
  Task<bool> ask_offers(Strand& s, const Miss& miss, NodeId home, std::uint64_t most);
  bool may_seal(const Miss& miss) const;
  Task<> enter_copies(Strand& s, BlockRange run, Access wanted, bool seals);
  Task<std::uint64_t> extend_run(Strand& s, BlockRange& run, NodeId home, const MissPlan& plan,
                                 const MissUnderWay& under_way);
  Task<> prefetch_more(Strand& s, BlockRange& run, NodeId home, bool fresh, std::uint64_t most,
                       const MissUnderWay& under_way);
  bool has_room(std::uint64_t blocks, const MissUnderWay& under_way) const;
  Task<bool> may_prefetch(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                          const MissUnderWay& under_way);
  Task<bool> is_known_home(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                           const MissUnderWay& under_way);
  Task<NodeId> lock_unmissed(Strand& s, std::uint64_t block, std::uint64_t missed,
                             MissUnderWay& under_way);
  Task<> ask_pipelined(Strand& s, BlockRange run, NodeId home, std::uint64_t extent,
                       const Miss& miss, MissUnderWay& under_way);
  Task<> request_more(Strand& s, MissUnderWay& under_way);
  std::uint64_t behind_present(std::uint64_t block, std::uint64_t limit,
                               const MissUnderWay& under_way) const;
  Task<bool> knows_home(Strand& s, std::uint64_t block, NodeId home, MissUnderWay& under_way);
  Task<> ask_pipelined_offers(Strand& s, Miss miss, const Pipeline& pipeline);
  Task<> finish_pipeline(Strand& s, MissUnderWay& under_way);
  Task<> enter_pipelined(Strand& s, BlockRange run, const Fetched& got,
                         const MissUnderWay& under_way);

  NodeState& node_;
  HomeWords& homes_;
  Fetches& fetches_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
