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
  bool adaptive;     // the region leaves it to the predictor how its copies fare
  bool much_room;    // more than half of this node's memory is free
  bool movable;      // this node may ask for the home, and has the memory for it
  bool far;          // the home is in another cluster
  bool shared_link;  // ... and this node is not alone in its own
  bool prefetches;   // further blocks may come with it
};

// What comes with a miss.
struct MissPlan {
  std::uint64_t blocks = 1;  // in the first request, the missed one included
  bool fresh = false;  // also blocks of the allocation that never were here: their homes are looked
                       // up; else a block whose home is not known ends the request
  std::uint64_t homes = 0;  // of so many blocks, from the missed one on, the homes are asked for
};

// Pipelined requests behind the first one.
struct PipelinePlan {
  std::uint32_t requests = 0;
  std::uint64_t end = 0;  // none of them goes beyond this block
};

// How many first blocks of a run that was missed are subscribed to.
struct SubscriptionPlan {
  std::uint64_t blocks = 0;
  bool predicted = false;  // a tag that comes back with keeps_subscription()
};

// Homes that are claimed with one: behind it, or, if none are, before it.
struct ClaimPlan {
  std::uint64_t behind = 0;
  std::uint64_t before = 0;
};

// What happens to the first `blocks` (at least 1) of a run of copies that an acquire makes stale.
struct AcquirePlan {
  std::uint64_t blocks = 1;
  bool refresh = false;  // fetched where they stand, as far as they can be; else dropped
};

// What the predictor may know of copies at an acquire.
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

// What the mechanism (Hlrc) asks, and what it tells. Any answer is correct; a bad one is slow. The
// mechanism cuts answers to what is possible, asks again whenever it likes, and reads nothing else
// of a predictor. The answers here are those of a predictor that never guesses. Called by any
// thread of the node at any time, in signal handlers too: no locks, no allocation.
class Predictor {
 public:
  virtual ~Predictor() = default;

  // ---- a miss, in this order: at_miss, homes_asked, prefetches, pipeline, missed, miss_ended

  virtual MissPlan at_miss(const Miss&) { return {}; }
  // The home answered for blocks up to `end`: how many of them it offers to this node.
  virtual void homes_asked(const Miss&, std::uint64_t /*end*/, std::uint64_t /*offered*/) {}
  // Whether homes that come with this miss are about to be written.
  virtual bool expects_writes(const Miss& miss) { return miss.access == Access::kWrite; }
  // A block comes with a miss, or with a neighbour's remapped probe; its lock is held.
  virtual void prefetches(std::uint64_t /*block*/) {}
  // The first request is `run`, a full one, to a home that is asked by messages; the allocation
  // has `extent` blocks from the first one on.
  virtual PipelinePlan pipeline(const Miss&, BlockRange /*run*/, std::uint64_t /*extent*/) {
    return {};
  }
  // Of which blocks the homes are asked for now, though nobody waits for the answer. `reached`: the
  // end of the pipelined requests; `extent_end`: of the allocation.
  virtual BlockRange homes_ahead(const Miss&, std::uint64_t /*reached*/,
                                 std::uint64_t /*extent_end*/) {
    return {};
  }
  virtual SubscriptionPlan subscribe(BlockRange /*missed*/) { return {}; }
  // The block has come, as a copy.
  virtual void missed(std::uint64_t /*block*/) {}
  // The miss of `block` brought everything up to `end`; 0: and the allocation ends there.
  virtual void miss_ended(std::uint64_t /*block*/, std::uint64_t /*end*/) {}
  // Pipelined requests of the miss that brought blocks up to `from` went on up to `end`; 0: as
  // above.
  virtual void pipeline_ended(std::uint64_t /*from*/, std::uint64_t /*end*/) {}
  // After a miss: how many blocks before this one are prefetched as well.
  virtual std::uint64_t prefetch_before(std::uint64_t /*block*/) { return 0; }
  // Such a prefetch is about to begin, with these blocks.
  virtual void prefetched_before(BlockRange /*before*/) {}
  // A first write claimed this home: how many behind it, or before it, are claimed with it; and
  // what was claimed, this one included.
  virtual ClaimPlan claims(std::uint64_t /*block*/) { return {}; }
  virtual void claimed(std::uint64_t /*block*/, BlockRange /*run*/) {}

  // ---- a fault that finds its copy here

  // It may have been unmapped as a probe. How many blocks from this one on are mapped again.
  virtual std::uint64_t shown(std::uint64_t /*block*/) { return 1; }
  // One of those behind it was mapped again; its lock is held.
  virtual void shown_too(std::uint64_t /*block*/) {}

  // ---- acquires

  virtual void lock_acquired() {}  // an acquire by a lock begins
  virtual void barrier_passed() {}
  // `run`: copies of adaptive regions.
  virtual AcquirePlan at_acquire(BlockRange run, bool /*barrier*/, const CopiesAtAcquire&) {
    return {.blocks = run.count};
  }
  virtual void dropped(BlockRange /*run*/, bool /*barrier*/) {}
  // Refreshed by a request at a barrier: whether the home pushes the run from now on.
  virtual bool subscribe_refreshed(BlockRange /*run*/) { return false; }
  // A subscription that a miss asked for is there: whether it is wanted still.
  virtual bool keeps_subscription(BlockRange /*run*/, bool /*predicted*/) { return true; }
  virtual void refreshed(BlockRange /*run*/, bool /*barrier*/) {}
  // Whether the copy, just refreshed, is unmapped so that a fault shows whether it is used.
  virtual bool probes(std::uint64_t /*block*/) { return false; }
  // Whether it has been one since a refresh before this one.
  virtual bool is_unused(std::uint64_t /*block*/) { return false; }
  // Whether the next request for the lock names what this acquire had to fetch, so that it comes
  // with the grant.
  virtual bool names_with_lock(LockId) { return false; }

  // ---- releases

  // At the home: a reader wants to rely on notices. It was written since it was tracked.
  virtual bool tracks(std::uint64_t /*block*/) { return true; }
  virtual void written_when_tracked(std::uint64_t /*block*/) {}
  // A release found none of this node's tracked homes written, of which there are so many: whether
  // all of them are left to leases.
  virtual bool untracks_idle(std::uint64_t /*blocks*/) { return false; }
  // A copy was written with the values that were there: whether a notice tells its home so.
  virtual bool tells_unchanged(std::uint64_t /*block*/) { return false; }
  // A release compared a copy with its twin. Then: whether the copy is kept open (not protected,
  // and compared at each release).
  virtual void compared(std::uint64_t /*block*/, bool /*written*/) {}
  virtual bool keeps_open(std::uint64_t /*block*/) { return false; }
  // Whether a release of the lock is performed at once; else when its token leaves the node.
  virtual bool release_at_once(LockId) { return false; }
  // A thread gives the lock back: how often the token may stay although another node waits for it,
  // since threads here are about to take the lock again; 0: it leaves at once.
  virtual std::uint32_t extends_turn(LockId) { return 0; }
  virtual void lock_asked(LockId) {}  // a thread asks for the lock
  // The token left before any thread here took the lock again; a thread took it again before that.
  virtual void lock_left(LockId) {}
  virtual void lock_reused(LockId) {}

  // ---- homes that move

  // At the home, at a barrier exit: `to` alone wrote the block. Whether it is offered to that node;
  // and if so, whether only at the next exit.
  virtual bool offers(std::uint64_t /*block*/, NodeId /*to*/) { return true; }
  virtual bool defers(std::uint64_t /*block*/) { return false; }
  // A node asks for the home. reads: and does not write yet; moved: it was not the first node's.
  virtual bool gives(std::uint64_t /*block*/, bool /*reads*/, bool /*moved*/) { return false; }
  virtual void gave(std::uint64_t /*block*/, bool /*reads*/) {}
  // A thread of ours came for a block on offer: of how many from it on the offers end.
  virtual std::uint64_t ends_offers(std::uint64_t /*block*/) { return 1; }
  // The offer of the block has ended for that; a thread of ours found the home gone.
  virtual void offer_ended(std::uint64_t /*block*/) {}
  virtual void home_gone(std::uint64_t /*block*/) {}
  virtual void home_came(std::uint64_t /*block*/) {}

  // ---- barriers and pushes

  // Whether this round is tried in memory. Asked once a round at every node; where answers differ,
  // those that try withdraw after a while.
  virtual bool meets(BarrierId) { return false; }
  // A node with so many leases comes to such a round: whether it may be held. The leases die or
  // are refreshed after it; homes learn what is wanted of them in a round by messages alone.
  virtual bool meets_with_leases(std::uint64_t /*blocks*/) { return false; }
  virtual void met(BarrierId, bool /*held*/) {}
  // Whether a push to so many readers goes along a tree; whether blocks that are the same as at the
  // last push go by their version; whether a run goes with this node's arrival.
  virtual bool pushes_by_tree(std::uint64_t /*readers*/) { return false; }
  virtual bool pushes_versions() { return false; }
  virtual bool sends_with_arrival(BlockRange /*run*/) { return false; }

  // ---- the end of a region: nothing is known of its blocks afterwards

  // Each block, whose lock is held; then the range as a whole.
  virtual void forget(std::uint64_t /*block*/) {}
  virtual void region_freed(BlockRange /*range*/) {}
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
