#include "protocol/hlrc/promotions.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FaultResult> Promotions::fault(Strand& s, BlockId id, Access wanted) {
  FaultResult result = co_await faults_.fault(s, id, wanted);
  if (result != FaultResult::kElsewhere) co_return result;
  result = co_await promote(s, id);
  co_return result == FaultResult::kDone ? FaultResult::kSynchronises : result;
}

Task<AtomicDone> Promotions::atomic(Strand& s, BlockId id) {
  FaultResult result = co_await promote(s, id);
  if (result == FaultResult::kDone) result = FaultResult::kSynchronises;
  co_return AtomicDone{.result = result};
}

// Several nodes may do this at the same time: each part may be done twice.
Task<FaultResult> Promotions::promote(Strand& s, BlockId id) {
  std::uint64_t block = id.value;
  if (node_.config.nodes == 1 || node_.entries[block].synchronises()) co_return FaultResult::kDone;
  for (;;) {
    // A fault to write gives the block a home, and finds out which.
    FaultResult result = co_await faults_.fault(s, id, Access::kWrite);
    if (result == FaultResult::kSynchronises) co_return FaultResult::kDone;
    if (result != FaultResult::kDone && result != FaultResult::kElsewhere) co_return result;
    NodeId home = co_await find_staying_home(s, block);
    if (home == kNoNode) {
      co_await claim_copy(s, block);
      co_await s.yield();
      continue;
    }
    mark(Mark::kPromotes);
    co_await demote_copy(s, block, home);
    if (!node_.config.sequential) co_await demote_all(s, block, home);
    Event ready = ScReady{id, home};
    co_await s.tell(ready);
    co_return FaultResult::kDone;
  }
}

// Copies of all nodes, and what their threads stored before. Where each node makes a page that it
// finds elsewhere one of this kind, no node has a copy.
Task<> Promotions::demote_all(Strand& s, std::uint64_t block, NodeId home) {
  std::vector<BlockRange> ranges{{block, 1}};
  Event tell = ExpireCopies{&ranges, s.waiter(), home};
  co_await s.call(tell);
  for (std::uint32_t n = 0; n < node_.config.nodes; ++n) {
    bool other = n != node_.config.self.value && !mutant(Mutant::kPromoteWithoutAcquire);
    if (other) co_await acquire_from(s, NodeId{n});
  }
}

// A copy of zeros, of a block that no node has claimed, keeps a fault from claiming it: it is
// claimed as if it had been written. If another node was first, the copy stays in the view. Without
// it, a thread that polls the page would fetch it, and see what was stored to it and not what was
// stored before.
Task<> Promotions::claim_copy(Strand& s, std::uint64_t block) {
  co_await node_.enter(s);
  ++node_.activity;
  co_await node_.lock_block(s, block);
  BlockState state = node_.entries[block].state();
  if (node_.entries[block].home() == kNoNode && node_.cached.contains(block)) {
    mark(Mark::kPromoteClaimsZeros);
    if (state == BlockState::kWritten) co_await s.perform(Protect{{block, 1}});
    node_.written.erase(block);
    state = co_await flushes_.flush_copy(s, block, false);
    co_await flushes_.await_flush(s);
  }
  co_await node_.unlock_block(s, block, state);
  co_await node_.leave(s);
}

// The home, which stays where it is from now on. kNoNode: it is just moving, or its locks are held.
Task<NodeId> Promotions::find_staying_home(Strand& s, std::uint64_t block) {
  NodeId home = node_.entries[block].home();
  for (std::uint32_t hops = 0; home != kNoNode && hops < node_.config.nodes; ++hops) {
    std::uint64_t answer = 0;
    if (home == node_.config.self) {
      answer = co_await home_stays(s, block);
    } else {
      Event ask = AskOffer{home, {block, 1}, OfferWish::kStays, s.waiter()};
      answer = co_await s.call(ask);
    }
    if (answer == kStaysHere) co_return home;
    if (answer == 0) break;
    home = NodeId{static_cast<std::uint32_t>(answer - kAskNode)};
  }
  co_return kNoNode;
}

Task<std::uint64_t> Promotions::home_stays(Strand& s, std::uint64_t block) {
  co_await s.pause();
  if (!node_.try_enter()) {
    mark(Mark::kPromoteFindsBusy);
    co_return 0;
  }
  std::uint64_t answer = 0;
  BlockEntry& entry = node_.entries[block];
  if (entry.try_lock_now()) {
    BlockState state = entry.state();
    bool was = entry.synchronises();
    answer = was ? answer_for(entry.home()) : co_await home_stays_held(s, block);
    bool now = !was && entry.synchronises();
    co_await node_.unlock_block(s, block, now ? BlockState::kInvalid : state);
  }
  co_await node_.leave(s);
  co_return answer;
}

std::uint64_t Promotions::answer_for(NodeId home) const {
  if (home == node_.config.self) return kStaysHere;
  mark(Mark::kPromoteFindsMoved);
  return kAskNode + home.value;
}

// Under the consistency lock and the block's lock.
Task<std::uint64_t> Promotions::home_stays_held(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = node_.entries[block];
  BlockState state = entry.state();
  // A home by policy that its node never touched is known to the node that asks, and not here. A
  // copy without a home has just been claimed by another node.
  bool copy = state == BlockState::kClean || state == BlockState::kWritten;
  if (copy && entry.home() == kNoNode) co_return 0;
  if (copy || (entry.home() != kNoNode && entry.home() != node_.config.self))
    co_return answer_for(entry.home());
  if (node_.config.migrate && !mutant(Mutant::kPromoteOffered)) {
    OfferedHome found = co_await homes_.still_here(s, block);
    if (found == OfferedHome::kGone) {
      std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
      co_return answer_for(home_in(word));
    }
    if (found == OfferedHome::kOfferEnded) mark(Mark::kPromoteEndsOffer);
  }
  co_await s.perform(Zap{{block, 1}});
  co_await tracked_homes_.end(s, block);
  node_.remove_home(block);
  co_await enter_synchronises(s, block, node_.config.self);
  co_return kStaysHere;
}

// Under the block's lock: no part of this protocol knows the block any more.
Task<> Promotions::enter_synchronises(Strand& s, std::uint64_t block, NodeId home) {
  node_.written.erase(block);
  node_.tracked.erase(block);  // a former home may have it still
  node_.leases.erase(block);
  node_.remove_idle(block);
  node_.leaving.erase(block);
  node_.spare.erase(block);
  node_.entries[block].set_synchronises(home);
  Event serve = ScServe{BlockId{block}, home};
  co_await s.tell(serve);
}

Task<> Promotions::demote_copy(Strand& s, std::uint64_t block, NodeId home) {
  co_await node_.enter(s);
  ++node_.activity;
  node_.acquired.fetch_add(1);
  while (!node_.entries[block].synchronises()) {
    // Under one lock. A thread that polls the page faults as soon as the copy has left the view: a
    // new copy would show it what was stored to the page, and not what was stored before.
    co_await node_.lock_block(s, block);
    BlockState state = node_.entries[block].state();
    if (node_.cached.contains(block)) {
      mark(Mark::kPromoteDropsCopy);
      state = co_await invalidation_.invalidate_held(s, block);
    }
    if (state == BlockState::kInvalid) {
      // What a former home has left of it, or a copy that died.
      co_await s.perform(Punch{.blocks = {block, 1}, .evicts = false});
      co_await enter_synchronises(s, block, home);
    }
    co_await node_.unlock_block(s, block, state);
  }
  co_await node_.leave(s);
  bool releases = !node_.config.sequential && !mutant(Mutant::kPromoteWithoutRelease);
  if (releases) co_await releases_.release(s);
}

// Where all pages that nodes share are of this kind, nobody has a copy that an acquire would drop.
Task<> Promotions::release_all(Strand& s) {
  if (!node_.config.sequential) co_await releases_.release(s);
}

Task<> Promotions::acquire_from(Strand& s, NodeId node) {
  if (node_.config.sequential) co_return;
  Grant grant;
  if (node != node_.config.self) {
    Event ask = AskNotices{node, s.waiter()};
    co_await s.call(ask);
    grant = Grant::of_notices(s.take_answer());
  }
  co_await acquires_.apply(s, 0, kUnsettled, grant);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
