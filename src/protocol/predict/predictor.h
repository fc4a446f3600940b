#pragma once

#include <cstdint>

#include "protocol/predict/tunables.h"
#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A miss of a copy of another node's block.
struct Miss {
  std::uint64_t block;
  Access access;
  bool reached;      // the home's memory is reached without messages
  bool adaptive;     // the region leaves the handling of its copies to the predictor
  bool much_room;    // more than half of this node's memory is free
  bool little_room;  // less than a quarter of it
  bool movable;      // this node may ask for the home, and has the memory for it
  bool far;          // the home is in another cluster
  bool shared_link;  // ... and there are other nodes in this node's cluster
  bool prefetches;   // further blocks may be fetched with it
};

// What is fetched with a miss.
struct MissPlan {
  std::uint64_t blocks = 1;  // in the first request, with the missed one
  // fresh: also blocks of the allocation that never were here, whose homes are looked up. Else a
  // block whose home is not known ends the request.
  bool fresh = false;
  std::uint64_t homes = 0;  // the homes of so many blocks, from the missed one on, are asked for
};

// Pipelined requests behind the first one: so many are under way at once, and another one follows
// each that is answered.
struct PipelinePlan {
  std::uint32_t requests = 0;
  std::uint64_t end = 0;  // none of them goes beyond this block
};

// How many of the first blocks of a missed run are subscribed to.
struct SubscriptionPlan {
  std::uint64_t blocks = 0;
  bool predicted = false;  // passed back to keeps_subscription()
};

// The homes that are claimed with the one of a first write: so many behind it or, if none, before
// it.
struct ClaimPlan {
  std::uint64_t behind = 0;
  std::uint64_t before = 0;
};

// What happens to the first `blocks` (at least 1) of a run of copies that an acquire makes stale.
struct AcquirePlan {
  std::uint64_t blocks = 1;
  bool refresh = false;  // refreshed in their place, as far as possible; else dropped
};

// How many homes a node has that may move, and how many it may have at most without being asked to
// take more.
struct HomePressure {
  std::uint64_t homes;
  std::uint64_t most;
  std::uint64_t limit;  // of blocks of all kinds at this node
};

// Which node is asked to adopt how many of them, if any. presses: also if it has many itself.
struct AdoptionPlan {
  NodeId node = kNoNode;
  std::uint64_t blocks = 0;
  bool presses = false;
  bool waits = false;  // the thread that has the fault waits until they are gone
};

inline constexpr std::uint32_t kFarthest = 2;

// What the predictor may look up about the room for homes at other nodes.
class PlacesForHomes {
 public:
  virtual std::uint32_t nodes() const = 0;
  virtual NodeId self() const = 0;
  // In 64ths of the node's limit, by its last answer; 64: it has not answered yet.
  virtual std::uint32_t room(NodeId node) const = 0;
  // Blocks that other nodes were asked to adopt and have not answered for.
  virtual std::uint64_t under_way() const = 0;
  // 0: on this host; 1: in this cluster; kFarthest: elsewhere.
  virtual std::uint32_t distance(NodeId node) const = 0;

 protected:
  ~PlacesForHomes() = default;
};

// What the predictor may look up about copies at an acquire.
class CopiesAtAcquire {
 public:
  // Whether the block is a copy that can be refreshed: of an adaptive region, its home known.
  virtual bool is_copy(std::uint64_t block) const = 0;
  virtual NodeId home(std::uint64_t block) const = 0;
  // Whether its home's memory is reached without messages.
  virtual bool is_reached(std::uint64_t block) const = 0;
  // Whether its home sends it at this barrier exit; false at locks.
  virtual bool is_pushed(std::uint64_t block) const = 0;

 protected:
  ~CopiesAtAcquire() = default;
};

// The questions of a node whose memory has a limit; under the contract of Predictor.
class FullNodePredictor {
 public:
  // How many homes this node keeps, and up to how many it adopts from other nodes. Asked at each
  // fault.
  virtual std::uint64_t homes_kept(const HomePressure& pressure) { return pressure.most; }
  // This node has more homes than that. Asked at each fault as long as that is so.
  virtual AdoptionPlan adoption(const HomePressure&, const PlacesForHomes&) { return {}; }
  // How many blocks that are here, one behind the other, the miss's stream passes over.
  virtual std::uint64_t skips_present(const Miss&) { return 0; }
  // The copy was evicted; its lock is held.
  virtual void evicted(std::uint64_t /*block*/) {}
  // Whether what this miss fetches enters the view sealed: without twins, whose memory and time are
  // spared, until the first store to a block, which costs a fault and a system call more.
  virtual bool seals(const Miss&) { return false; }
  // A thread stores to a sealed copy: how many sealed copies from this one on get twins with it.
  virtual std::uint64_t unseals(std::uint64_t /*block*/) { return 1; }
  // A thread of this node has changed its copy, or is about to.
  virtual void stored(std::uint64_t /*block*/) {}

 protected:
  ~FullNodePredictor() = default;
};

// The questions of the mechanism (Hlrc), and what it reports.
//
// The contract: any value of an answer's type is correct, at any time; a bad one is slow. So no
// answer has to agree with an earlier one, with those of other nodes, or with what the predictor
// was told. The mechanism alone keeps data right:
//
// - It cuts a number to what is possible: the message (Tunables::max_run), the allocation, the
//   blocks of one directory node, the memory that is left, the requests that it can keep. 0 and ~0
//   are answers as others are. So is a range that lies elsewhere: nothing is done for it.
// - It looks whether a wish can be met where it is met, under the block's lock. A block that is no
//   copy is not refreshed or shown; one that is no home here, has moved or is on offer already is
//   not offered; one that must not be tracked is not tracked.
// - It asks again whenever it likes, or not at all, and reads nothing else of a predictor.
//
// One thing a program with data races may see: a refresh in place may put the value of a racing
// store over one that this node has not released (docs/design/coherence.md). Any copy may be
// refreshed, so that holds for every predictor.
//
// The answers in this class are those of a predictor that never guesses. The simulator's
// RandomPredictor draws all others (src/sim/random_predictor.h). Called by any thread of the node
// at any time, also in signal handlers: no locks, no allocation.
class Predictor {
 public:
  virtual ~Predictor() = default;

  // ---- a miss, in this order: at_miss, homes_asked, prefetches, pipeline, missed, miss_ended

  virtual MissPlan at_miss(const Miss&) { return {}; }
  // The home has answered the request for homes up to `end`: it offers so many of them to this
  // node.
  virtual void homes_asked(const Miss&, std::uint64_t /*end*/, std::uint64_t /*offered*/) {}
  // Whether this node is about to write to the homes that come with this miss.
  virtual bool expects_writes(const Miss& miss) { return miss.access == Access::kWrite; }
  // The block is prefetched with a miss; its lock is held.
  virtual void prefetches(std::uint64_t /*block*/) {}
  // `run`: the first request, a full one, to a home that is asked by messages. `extent`: how many
  // blocks the allocation has from the first one on.
  virtual PipelinePlan pipeline(const Miss&, BlockRange /*run*/, std::uint64_t /*extent*/) {
    return {};
  }
  // The blocks whose homes this node asks for now; no thread waits for the answer. `reached`: the
  // end of the pipelined requests. `extent_end`: the end of the allocation.
  virtual BlockRange homes_to_ask(const Miss&, std::uint64_t /*reached*/,
                                  std::uint64_t /*extent_end*/) {
    return {};
  }
  // How many of the missed blocks this node subscribes to with its request.
  virtual SubscriptionPlan subscribe(BlockRange /*missed*/) { return {}; }
  // The block was fetched, as a copy.
  virtual void missed(std::uint64_t /*block*/) {}
  // The miss of `block` fetched everything up to `end`; 0: up to the end of the allocation.
  virtual void miss_ended(std::uint64_t /*block*/, std::uint64_t /*end*/) {}
  // The pipelined requests of the miss that fetched blocks up to `from` fetched more, up to `end`;
  // 0: as above.
  virtual void pipeline_ended(std::uint64_t /*from*/, std::uint64_t /*end*/) {}
  // After a miss: how many blocks before this one are prefetched as well.
  virtual std::uint64_t prefetch_before(std::uint64_t /*block*/) { return 0; }
  // Such a prefetch is about to begin, of these blocks.
  virtual void prefetched_before(BlockRange /*before*/) {}
  // A first write claimed the home of this block: how many homes behind it, or before it, are
  // claimed with it.
  virtual ClaimPlan claims(std::uint64_t /*block*/) { return {}; }
  // What was claimed, this block included.
  virtual void claimed(std::uint64_t /*block*/, BlockRange /*run*/) {}

  // ---- a fault that finds its copy here

  // The copy may have been unmapped as a probe. Result: how many blocks from this one on are mapped
  // again.
  virtual std::uint64_t remap_count(std::uint64_t /*block*/) { return 1; }
  // One of the blocks behind it was mapped again; its lock is held.
  virtual void remapped(std::uint64_t /*block*/) {}

  // ---- acquires

  virtual void acquired(bool /*at_fence*/) {}  // an acquire by a lock begins, or a fence
  virtual void barrier_passed() {}             // a barrier, or a rendezvous, has ended here
  // `run`: copies of adaptive regions. `barrier`: false at the acquire of a lock.
  virtual AcquirePlan at_acquire(BlockRange run, bool /*barrier*/, const CopiesAtAcquire&) {
    return {.blocks = run.count};
  }
  // The acquire has dropped these copies.
  virtual void dropped(BlockRange /*run*/, bool /*barrier*/) {}
  // The run is refreshed by a request at a barrier: whether the home pushes it from now on.
  virtual bool subscribe_refreshed(BlockRange /*run*/) { return false; }
  // A miss has made a subscription: whether it is still wanted.
  virtual bool keeps_subscription(BlockRange /*run*/, bool /*predicted*/) { return true; }
  // The acquire has refreshed these copies.
  virtual void refreshed(BlockRange /*run*/, bool /*barrier*/) {}
  // Whether the copy, just refreshed, is unmapped so that a fault shows whether it is used.
  virtual bool probes(std::uint64_t /*block*/) { return false; }
  // During a refresh: whether the copy has been unmapped since an earlier one, and no thread has
  // used it.
  virtual bool is_unused(std::uint64_t /*block*/) { return false; }
  // Whether the next request for the lock names what this acquire had to fetch, so that the grant
  // carries it.
  virtual bool names_with_lock(LockId) { return false; }

  // ---- releases

  // At the home: a reader has asked for the block. Whether the home tracks it, so that readers can
  // rely on notices.
  virtual bool tracks(std::uint64_t /*block*/) { return true; }
  // At the home: a tracked block was written, and its readers get a notice. Whether it stays
  // tracked, where a release found it so; else it is left to leases.
  virtual bool written_when_tracked(std::uint64_t /*block*/) { return false; }
  // A release found none of this node's tracked homes, so many blocks, written: whether all of them
  // go back to leases.
  virtual bool untracks_idle(std::uint64_t /*blocks*/) { return false; }
  // A copy was written with the values that were there: whether its home gets a notice of that.
  virtual bool tells_unchanged(std::uint64_t /*block*/) { return false; }
  // A release compared a copy with its twin. written: they differed.
  virtual void compared(std::uint64_t /*block*/, bool /*written*/) {}
  // After that: whether the copy is kept open (not protected, and compared at each release).
  virtual bool keeps_open(std::uint64_t /*block*/) { return false; }
  // Whether a release of the lock is made at once; else it is made when the token leaves the node.
  virtual bool release_at_once(LockId) { return false; }
  // A thread gives the lock back: how often the token may stay although another node waits for it,
  // because threads here will soon take the lock again. 0: it leaves at once.
  virtual std::uint32_t extends_turn(LockId) { return 0; }
  virtual void lock_asked(LockId) {}  // a thread asks for the lock
  // The token left this node before any thread here took the lock again.
  virtual void lock_left(LockId) {}
  // A thread here took the lock again before the token left.
  virtual void lock_reused(LockId) {}

  // ---- homes that move

  // At the home, at a barrier exit: `to` alone wrote the block. Whether it is offered to that node.
  virtual bool offers(std::uint64_t /*block*/, NodeId /*to*/) { return true; }
  // If so: whether only at the next barrier exit.
  virtual bool defers(std::uint64_t /*block*/) { return false; }
  // At the home: a node asks for the block's home. Whether it is offered to that node. reads: the
  // node only reads so far; moved: the home has moved before.
  virtual bool may_give(std::uint64_t /*block*/, bool /*reads*/, bool /*moved*/) { return false; }
  // If so: the home was offered.
  virtual void home_given(std::uint64_t /*block*/, bool /*reads*/) {}
  // A thread of this node needs a block on offer: the offers of how many blocks, from this one on,
  // end.
  virtual std::uint64_t ends_offers(std::uint64_t /*block*/) { return 1; }
  // That thread has ended the offer of the block.
  virtual void offer_ended(std::uint64_t /*block*/) {}
  // A thread of this node found that the block's home has moved away.
  virtual void home_gone(std::uint64_t /*block*/) {}
  // Answers for a node whose memory is short; lives as long as this predictor.
  virtual FullNodePredictor& at_full_node() {
    struct Never final : FullNodePredictor {};
    static constinit Never never;
    return never;
  }
  // This node has become the block's home.
  virtual void home_came(std::uint64_t /*block*/) {}

  // ---- barriers and pushes

  // Whether this round is tried in memory. Each node asks once a round. If answers differ, the
  // nodes that try withdraw after a while.
  virtual bool tries_in_memory(BarrierId) { return false; }
  // A node with so many leases comes to such a round: whether it may be held. The leases die or are
  // refreshed after it. Only a round by messages lets the homes see which of them are wanted.
  virtual bool holds_memory_barrier_with_leases(std::uint64_t /*blocks*/) { return false; }
  // Whether a round that was tried was held in memory.
  virtual void memory_barrier_ended(BarrierId, bool /*held*/) {}
  // Whether a push to so many readers goes along a tree.
  virtual bool pushes_by_tree(std::uint64_t /*readers*/) { return false; }
  // Whether blocks that have not changed since the last push are sent as their version alone.
  virtual bool pushes_versions() { return false; }
  // Whether pushes of the run go with this node's arrival, in a job of two nodes.
  virtual bool sends_with_arrival(BlockRange /*run*/) { return false; }

  // ---- the end of a region: nothing is known of its blocks afterwards

  // Called for each block, whose lock is held.
  virtual void forget(std::uint64_t /*block*/) {}
  // Called after that, for the whole range.
  virtual void region_freed(BlockRange /*range*/) {}
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
