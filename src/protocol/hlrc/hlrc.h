#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/atomics.h"
#include "protocol/hlrc/barriers.h"
#include "protocol/hlrc/count_operations.h"
#include "protocol/hlrc/faults.h"
#include "protocol/hlrc/fetches.h"
#include "protocol/hlrc/flushes.h"
#include "protocol/hlrc/home_words.h"
#include "protocol/hlrc/invalidation.h"
#include "protocol/hlrc/locks.h"
#include "protocol/hlrc/memory.h"
#include "protocol/hlrc/misses.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/notices.h"
#include "protocol/hlrc/offers.h"
#include "protocol/hlrc/pushes.h"
#include "protocol/hlrc/refreshes.h"
#include "protocol/hlrc/releases.h"
#include "protocol/hlrc/subscriptions.h"
#include "protocol/hlrc/tracked_homes.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Home-based lazy release consistency with multiple writers (Zhou, Iftode, Li, OSDI 1996) and a
// completed flush: a release becomes visible only after its changes have reached their homes, so a
// home is current for every node that may rightly ask, and a miss is a one-sided copy. The node's
// half that touches blocks; what travels in messages is core.h's.
//
// Every public function is an operation of one thread: a coroutine that stops at each one-sided
// step (step_kinds.h). Several may be under way at once. This class only puts the parts together:
// what they share is NodeState, and each part knows only those that stand before it among the
// members.
class Hlrc : public MemoryRoom {
 public:
  static constexpr std::uint32_t kMaxRun = NodeState::kMaxRun;

  // `predictor`: the caller's; its answers decide how fast, never whether right.
  Hlrc(const HlrcConfig& config, const BlockMemory& memory, Core& core, Predictor& predictor)
      : node_(config, memory, core, predictor),
        notices_(node_),
        homes_(node_),
        tracked_homes_(node_, notices_, homes_),
        offers_(node_, notices_, homes_, tracked_homes_),
        subscriptions_(node_),
        fetches_(node_, homes_, subscriptions_),
        pushes_(node_, memory),
        flushes_(node_, notices_, homes_),
        releases_(node_, notices_, tracked_homes_, offers_, flushes_),
        invalidation_(node_, notices_, tracked_homes_, offers_, flushes_),
        refreshes_(node_, homes_, subscriptions_, fetches_, flushes_, invalidation_),
        acquires_(node_, offers_, subscriptions_, refreshes_),
        memory_(node_, notices_, invalidation_),
        misses_(node_, homes_, fetches_),
        faults_(node_, homes_, memory_, misses_),
        atomics_(node_, notices_, homes_, tracked_homes_, flushes_, faults_),
        locks_(node_, homes_, releases_, acquires_),
        counts_(node_, releases_, acquires_, locks_),
        barriers_(node_, offers_, pushes_, releases_, acquires_) {}
  Hlrc(const Hlrc&) = delete;

  // Makes the block accessible to a thread that faulted on it.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted) {
    return faults_.fault(s, block, wanted);
  }
  // On a word of the block. Ordered with other operations on that word alone.
  Task<AtomicDone> atomic(Strand& s, BlockId block, AtomicOp op) {
    return atomics_.atomic(s, block, op);
  }
  // False: this very thread holds the lock already.
  Task<bool> lock(Strand& s, LockId lock) { return locks_.lock(s, lock); }
  // The lock, if nobody holds it or is in line for it; else kBusy.
  Task<LockResult> try_lock(Strand& s, LockId lock) { return locks_.try_lock(s, lock); }
  // Where no node asks for the lock its token stays, and the release is left until it leaves.
  Task<LockResult> unlock(Strand& s, LockId lock) { return locks_.unlock(s, lock); }
  // For a handler: the release of a token that stayed (a ReleaseKept effect).
  Task<std::uint64_t> release_kept(Strand& s, ReleaseKept kept) {
    return locks_.release_kept(s, kept);
  }
  // The same after a TurnExtended, where the host has no better moment.
  Task<> end_turn(Strand& s, LockId lock) { return locks_.end_turn(s, lock); }
  // Counts (lock_manager.h): a release, then the change; what the count was. `op`: up to kMax.
  Task<std::uint64_t> change_count(Strand& s, LockId count, CountOp op, std::int64_t operand) {
    return counts_.change_count(s, count, op, operand);
  }
  // Until the count has reached `until`; an acquire of what happened before the change that did it.
  Task<> await_count(Strand& s, LockId count, std::int64_t until) {
    return counts_.await_count(s, count, until);
  }
  // Units of a count, which change_count(kAdd) posts; in the order of calls. False: there are none,
  // or the time has come.
  Task<bool> take_units(Strand& s, LockId count, Units units, Patience patience) {
    return counts_.take_units(s, count, units, patience);
  }
  // A release; then the thread waits until as many have come as the count has tickets, and acquires
  // what they released.
  Task<Arrival> arrive(Strand& s, LockId count) { return counts_.arrive(s, count); }
  // Gives `lock` back, waits for a signal of the condition that comes afterwards, and takes the
  // lock again. kExpired: no signal came in time.
  Task<LockResult> wait_condition(Strand& s, LockId condition, LockId lock,
                                  Patience patience = Patience::kForEver) {
    return counts_.wait_condition(s, condition, lock, patience);
  }
  Task<> signal_condition(Strand& s, LockId condition, bool all) {
    return counts_.signal_condition(s, condition, all);
  }
  // What was reduced goes to `reduced`. False: what the threads brought did not match.
  Task<bool> barrier(Strand& s, BarrierId barrier, std::uint32_t threads_here,
                     Contribution contribution, std::vector<std::byte>* reduced = nullptr) {
    return barriers_.barrier(s, barrier, threads_here, contribution, reduced);
  }
  // By a thread of node 0 that then enters the barrier as the last one there: acquires what all
  // other threads released as they came to it. They wait until it enters.
  Task<> gather(Strand& s, BarrierId barrier, std::uint32_t threads_here) {
    return barriers_.gather(s, barrier, threads_here);
  }
  // The barrier after which this node leaves the job: what it wrote is home, and all are here. The
  // copies are of no use any more; nobody may be asked for anything afterwards.
  Task<> last_barrier(Strand& s, BarrierId barrier) { return barriers_.last_barrier(s, barrier); }
  // Drops this node's copies in the range; what they hold goes home first. punch: their memory is
  // given back.
  Task<> evict(Strand& s, BlockRange range, bool punch) { return memory_.evict(s, range, punch); }
  // The machine has no more: gives back all that this node can do without.
  Task<> free_memory(Strand& s) { return memory_.free_memory(s); }
  // For a handler, when others have stored so much in homes here that the copies are too many:
  // evicts some, unless the node is about to release, to invalidate or to evict.
  Task<> trim(Strand& s) { return memory_.trim(s); }
  bool is_over_limit() const { return memory_.is_over_limit(); }
  // Whose copies count and go as well.
  void share_memory_with(sc::Pages& sequential) { memory_.share_with(sequential); }
  // For faults there: whether there is less room than a fault wants to find; makes some.
  bool is_short() const override { return memory_.is_short(); }
  Task<> make_room(Strand& s) override { return memory_.make_room(s); }
  // For a handler, now and then: gives back some of the memory that homes have left here which
  // moved, unless the node is about to release, to invalidate or to evict. (Where memory is short,
  // the thread that wants it does.)
  Task<> tidy(Strand& s) { return memory_.tidy(s); }
  // Drops, or refreshes, the copies that an eager release of another node told of (an Expire
  // effect). `ranges`: BlockRanges, the caller's until the end.
  Task<> expire(Strand& s, NodeId origin, Bytes ranges) {
    return acquires_.expire(s, origin, ranges);
  }
  // Another node is about to write these blocks (an Offer effect): offers it those that are at
  // home here, never moved, and free just now. Waits for nobody. Result: how many. Where it reads
  // alone: none, once our threads have come back for some that were given so.
  Task<std::uint64_t> offer_asked(Strand& s, Offer asked) { return offers_.offer_asked(s, asked); }
  // Forgets the blocks of a freed region, homes included (a Drop effect).
  Task<> drop(Strand& s, RegionId region, BlockRange range) {
    return invalidation_.drop(s, region, range);
  }

  // What this node does for others that cannot reach its memory.
  Server& server() { return pushes_.server(); }
  // Whether this node waits for the run at that departure, if it has the copies yet.
  bool expects(NodeId home, BlockRange run, std::uint32_t departure) const {
    return subscriptions_.runs().covers(home, run, departure);
  }

  std::uint64_t cached() const { return node_.copies(); }
  const BlockEntry& entry(std::uint64_t block) const { return node_.entries[block]; }
  bool is_tracked(std::uint64_t block) const { return node_.tracked.contains(block); }
  bool is_cached(std::uint64_t block) const { return node_.cached.contains(block); }
  bool is_written(std::uint64_t block) const { return node_.written.contains(block); }

 private:
  NodeState node_;
  Notices notices_;
  HomeWords homes_;
  TrackedHomes tracked_homes_;
  Offers offers_;
  Subscriptions subscriptions_;
  Fetches fetches_;
  Pushes pushes_;
  Flushes flushes_;
  Releases releases_;
  Invalidation invalidation_;
  Refreshes refreshes_;
  Acquires acquires_;
  Memory memory_;
  Misses misses_;
  Faults faults_;
  Atomics atomics_;
  Locks locks_;
  CountOperations counts_;
  Barriers barriers_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
