#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/copies/fetches.h"
#include "protocol/copies/flushes.h"
#include "protocol/copies/invalidation.h"
#include "protocol/copies/memory.h"
#include "protocol/copies/pushes.h"
#include "protocol/copies/refreshes.h"
#include "protocol/copies/subscriptions.h"
#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/adoptions.h"
#include "protocol/hlrc/atomics.h"
#include "protocol/hlrc/barriers.h"
#include "protocol/hlrc/count_operations.h"
#include "protocol/hlrc/faults.h"
#include "protocol/hlrc/fences.h"
#include "protocol/hlrc/locks.h"
#include "protocol/hlrc/misses.h"
#include "protocol/hlrc/promotions.h"
#include "protocol/hlrc/releases.h"
#include "protocol/homes/home_words.h"
#include "protocol/homes/offers.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"
#include "protocol/steps/ordering.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Home-based lazy release consistency with multiple writers (Zhou, Iftode, Li, OSDI 1996) and a
// completed flush: a release becomes visible only after its changes have reached their homes. So a
// home is current for every node that may ask, and a miss is a one-sided copy. This is the part of
// a node that changes blocks; core.h has the part that handles the contents of messages.
//
// Every public function is an operation of one thread: a coroutine that stops at each one-sided
// step (step_kinds.h). Several operations may be under way at once. This class only connects the
// parts. They share NodeState, and each part knows only parts that are declared before it among the
// members.
class Hlrc : public MemoryRoom {
 public:
  static constexpr std::uint32_t kMaxRun = NodeState::kMaxRun;

  // `predictor`: owned by the caller. Its answers change the speed, never the data.
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
        acquires_(node_, offers_, releases_, subscriptions_, refreshes_),
        memory_(node_, notices_, invalidation_),
        misses_(node_, homes_, fetches_),
        adoptions_(node_, homes_, fetches_, memory_, misses_),
        faults_(node_, homes_, memory_, misses_, adoptions_),
        atomics_(node_, notices_, homes_, tracked_homes_, flushes_, faults_),
        promotions_(node_, homes_, tracked_homes_, releases_, flushes_, invalidation_, acquires_,
                    faults_),
        locks_(node_, homes_, releases_, acquires_),
        counts_(node_, releases_, acquires_, locks_),
        barriers_(node_, offers_, pushes_, releases_, acquires_),
        fences_(node_, releases_, acquires_) {}
  Hlrc(const Hlrc&) = delete;

  // Makes the block accessible to the thread that faulted on it. kSynchronises: sc::Pages does it.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted) {
    bool sequential = node_.config.sequential;
    return sequential ? promotions_.fault(s, block, wanted) : faults_.fault(s, block, wanted);
  }
  // Makes the block a synchronisation page, unless it is one: from then on sc::Pages serves it.
  // kDone, or why not. No region with eager releases may be in use.
  Task<FaultResult> promote(Strand& s, BlockId block) { return promotions_.promote(s, block); }
  // For sc::Pages.
  Ordering& ordering() { return promotions_; }
  // An atomic operation on a word of the block. It is ordered only with other operations on that
  // word.
  Task<AtomicDone> atomic(Strand& s, BlockId block, AtomicOp op) {
    return node_.config.sequential ? promotions_.atomic(s, block) : atomics_.atomic(s, block, op);
  }
  // False: the calling thread holds the lock already.
  Task<bool> lock(Strand& s, LockId lock) { return locks_.lock(s, lock); }
  // Takes the lock if no thread holds it or waits for it; else kBusy.
  Task<LockResult> try_lock(Strand& s, LockId lock) { return locks_.try_lock(s, lock); }
  // If no other node asks for the lock, its token stays here, and the release is made only when the
  // token leaves.
  Task<LockResult> unlock(Strand& s, LockId lock) { return locks_.unlock(s, lock); }
  // For a handler thread: makes the release of a token that stayed (a ReleaseKept effect). Result:
  // as NodeState::settled_activity().
  Task<std::uint64_t> release_kept(Strand& s, ReleaseKept kept) {
    return locks_.release_kept(s, kept);
  }
  // Some time after a TurnExtended effect, for a host that steps no LockEndTurn itself: the token
  // leaves as soon as no thread here holds the lock.
  Task<> end_turn(Strand& s, LockId lock) { return locks_.end_turn(s, lock); }
  // Counts (lock_manager.h). Makes a release, then changes the count. Result: the value before.
  // `op`: an operation up to kMax.
  Task<std::uint64_t> change_count(Strand& s, LockId count, CountOp op, std::int64_t operand) {
    return counts_.change_count(s, count, op, operand);
  }
  // Waits until the count has reached `until`. Acquires what was released before the change that
  // reached it.
  Task<> await_count(Strand& s, LockId count, std::int64_t until) {
    return counts_.await_count(s, count, until);
  }
  // Takes units of a count, which change_count(kAdd) posts. Calls are served in their order. False:
  // there are no units (kTry), or the time has expired (kExpires).
  Task<bool> take_units(Strand& s, LockId count, Units units, Patience patience) {
    return counts_.take_units(s, count, units, patience);
  }
  // Makes a release. Then waits until as many threads have arrived as the count has tickets, and
  // acquires what they released.
  Task<Arrival> arrive(Strand& s, LockId count) { return counts_.arrive(s, count); }
  // Releases `lock`, waits for a signal of the condition that is sent after that, and takes the
  // lock again. kExpired: no signal came in time. kNotHeld: the thread does not hold the lock.
  Task<LockResult> wait_condition(Strand& s, LockId condition, LockId lock,
                                  Patience patience = Patience::kForEver) {
    return counts_.wait_condition(s, condition, lock, patience);
  }
  Task<> signal_condition(Strand& s, LockId condition, bool all) {
    return counts_.signal_condition(s, condition, all);
  }
  // The result of the reduction goes to `reduced`. False: the threads' contributions do not match.
  Task<bool> barrier(Strand& s, BarrierId barrier, std::uint32_t threads_here,
                     Contribution contribution, std::vector<std::byte>* reduced = nullptr) {
    return barriers_.barrier(s, barrier, threads_here, contribution, reduced);
  }
  // For the thread of node 0 that will enter the barrier as the last one of its node. Acquires what
  // all other threads released when they arrived. They wait until this thread enters.
  Task<> gather(Strand& s, BarrierId barrier, std::uint32_t threads_here) {
    return barriers_.gather(s, barrier, threads_here);
  }
  // A release and an acquire: what was written before here is seen after every fence that begins
  // when this one has ended. Result: whether it told or heard anything.
  Task<bool> fence(Strand& s) { return fences_.fence(s); }
  // The barrier after which this node leaves the job: what it wrote is at the homes, and all nodes
  // have arrived. Its copies may be stale afterwards, and it must not send requests to other nodes.
  Task<> last_barrier(Strand& s, BarrierId barrier) { return barriers_.last_barrier(s, barrier); }
  // Drops this node's copies in the range, after their changes are at the homes. punch: their
  // memory is given back to the machine.
  Task<> evict(Strand& s, BlockRange range, bool punch) { return memory_.evict(s, range, punch); }
  // For a machine without free memory: gives back all memory that this node can do without, and
  // asks other nodes to adopt homes.
  Task<> free_memory(Strand& s) { return adoptions_.free_memory(s); }
  // After bound() has lowered the limit: evicts copies, and gives homes to nodes with room, until
  // there is room for a fault. For a thread that holds no lock.
  Task<> shrink(Strand& s) { return adoptions_.shrink(s); }
  // As NodeState::bound.
  void bound(std::uint64_t limit, std::uint64_t reserve, std::uint64_t most_homes) {
    node_.bound(limit, reserve, most_homes);
  }
  // Another node asks this one to become the home of its blocks (an Adopt effect). Result: of how
  // many it did.
  Task<std::uint64_t> adopt(Strand& s, Adopt asked) { return adoptions_.adopt(s, asked); }
  // How many more homes this node has room for, in 64ths of its limit.
  std::uint32_t room_for_homes() const { return adoptions_.room_for_homes(); }
  // For a handler thread, when other nodes have stored so much in homes here that memory is over
  // the limit: evicts some copies. Does nothing while this node releases, invalidates or evicts.
  Task<> trim(Strand& s) { return memory_.trim(s); }
  bool is_over_limit() const { return memory_.is_over_limit(); }
  // Copies of sequentially consistent pages count against the same limit and are evicted as well.
  void share_memory_with(sc::Pages& sequential) { memory_.share_with(sequential); }
  // For faults of these pages: whether there is less room than a fault needs; make_room() makes
  // some.
  bool is_short() const override { return memory_.is_short(); }
  Task<> make_room(Strand& s) override { return memory_.make_room(s); }
  // For a handler thread, now and then: gives back some memory of blocks whose homes have moved
  // away. Does nothing while this node releases, invalidates or evicts. (If memory is short, the
  // thread that needs it gives it back.)
  Task<> tidy(Strand& s) { return memory_.tidy(s); }
  // Drops or refreshes the copies that an eager release of another node named (an Expire effect).
  // `ranges`: BlockRanges, which the caller keeps until the operation ends.
  // home: not kNoNode: the block becomes a synchronisation page with this home.
  Task<> expire(Strand& s, NodeId origin, Bytes ranges, NodeId home = kNoNode) {
    if (home == kNoNode) return acquires_.expire(s, origin, ranges);
    BlockRange range;
    wire::take(ranges, range);
    return promotions_.demote_copy(s, range.first, home);
  }
  // Another node is about to use these blocks (an Offer effect): offers it the blocks whose home is
  // here, that never moved, and whose locks are free. Waits for no thread. A node that only reads
  // gets no more blocks once threads of this node needed too many of them again. Result: the number
  // of offered blocks.
  // Or the block becomes a synchronisation page (OfferWish::kStays; Promotions::home_stays).
  Task<std::uint64_t> offer_asked(Strand& s, Offer asked) {
    if (asked.wish == OfferWish::kStays) return promotions_.home_stays(s, asked.run.first);
    return offers_.offer_asked(s, asked);
  }
  // Forgets the blocks of a freed region: copies, homes and directory entries (a Drop effect).
  Task<> drop(Strand& s, RegionId region, BlockRange range) {
    return invalidation_.drop(s, region, range);
  }

  // Serves the nodes that cannot reach this node's memory.
  Server& server() { return pushes_.server(); }
  // Whether `home` pushes the run to this node at that barrier exit, and this node uses the push if
  // it still has the copies.
  bool expects(NodeId home, BlockRange run, std::uint32_t barrier_exit) const {
    return subscriptions_.runs().covers(home, run, barrier_exit);
  }

  const BlockEntry& entry(std::uint64_t block) const { return node_.entries[block]; }
  // The sets of blocks, to look at.
  const NodeState& state() const { return node_; }

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
  Adoptions adoptions_;
  Faults faults_;
  Atomics atomics_;
  Promotions promotions_;
  Locks locks_;
  CountOperations counts_;
  Barriers barriers_;
  Fences fences_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
