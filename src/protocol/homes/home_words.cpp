#include "protocol/homes/home_words.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<std::uint64_t> HomeWords::find_home(Strand& s, std::uint64_t block, Access wanted,
                                         BlockRange& same_owner) {
  Event find = RegionFind{BlockId{block}, s.waiter()};
  std::uint64_t found = co_await s.call(find);
  std::uint64_t home = home_found(found);
  if (home == kHomeNowhere) co_return home;
  set_policy(block, found);
  if (is_first_touch(home)) {
    bool claims = wanted == Access::kWrite;
    std::uint32_t mine = node_.config.self.value + 1;
    Owner named;
    if (claims) {
      named = co_await claim_owner(s, block);
    } else {
      named = co_await ask_owner(s, block, block);
    }
    same_owner = {block, named.same};
    std::uint32_t owner = named.entry;
    if (owner == 0) {
      mark(Mark::kFaultReadsUnclaimed);
      co_return kHomeFirstTouch;
    }
    if (claims) mark(owner == mine ? Mark::kFaultClaimsHome : Mark::kFaultLosesClaim);
    home = std::uint64_t{owner} - 1;
    node_.entries[block].set_home(NodeId{static_cast<std::uint32_t>(home)}, true);
    if (claims && owner == mine) co_await claim_neighbours(s, block);
    co_return home;
  }
  node_.entries[block].set_home(NodeId{static_cast<std::uint32_t>(home)});
  same_owner = {block, together_found(found)};
  co_return home;
}

void HomeWords::set_policy(std::uint64_t block, std::uint64_t found) {
  std::uint64_t home = home_found(found);
  std::uint32_t directory = is_first_touch(home) ? directory_found(home) : 0;
  node_.entries[block].set_policy(protocol_found(found), propagation_found(found), directory);
  if (node_.entries[block].eager()) eager_seen_.store(true, std::memory_order_relaxed);
}

Task<Owner> HomeWords::ask_owner(Strand& s, std::uint64_t block, std::uint64_t known) {
  NodeId node = node_.directory(block, known);
  if (mutant(Mutant::kReaderForgetsDirectory)) node = directory_of(block, node_.core.clusters(), 0);
  co_return co_await s.perform(LoadOwner{node, BlockId{block}});
}

Task<Owner> HomeWords::claim_owner(Strand& s, std::uint64_t block) {
  std::uint32_t mine = node_.config.self.value + 1;
  co_return co_await s.perform(ClaimOwner{node_.directory(block, block), {block, 1}, mine});
}

Task<NodeId> HomeWords::still_unclaimed(Strand& s, std::uint64_t block, BlockRange& same_owner) {
  Owner owner = co_await ask_owner(s, block, block);
  same_owner = {block, owner.same};
  if (owner.entry == 0) co_return kNoNode;
  mark(Mark::kFaultSeesClaimLate);
  NodeId home{owner.entry - 1};
  TERRANE_CHECK(home != node_.config.self, "this node claims a block only under its lock");
  node_.entries[block].set_home(home);
  co_return home;
}

Task<bool> HomeWords::is_freed(Strand& s, std::uint64_t block) {
  if (mutant(Mutant::kFollowsFreed)) co_return false;
  Event ask = RegionExtent{BlockId{block}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  if (extent == 0) mark(Mark::kFindsRegionFreed);
  co_return extent == 0;
}

Task<OfferedHome> HomeWords::still_here(Strand& s, std::uint64_t block) {
  while (true) {
    std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
    if (word & kMoved) {
      mark(Mark::kFaultFindsHomeGone);
      node_.tracked.erase(block);
      node_.predictor.home_gone(block);
      co_return OfferedHome::kGone;
    }
    if (!(word & kOffered)) co_return OfferedHome::kHere;
    bool ended = co_await end_offer(s, block);
    if (ended) co_return OfferedHome::kOfferEnded;
  }
}

Task<bool> HomeWords::end_offer(Strand& s, std::uint64_t block) {
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  if (word & kMoved || !(word & kOffered)) co_return false;
  bool ended = co_await swap_word(s, node_.config.self, block, word, word & kStays);
  if (!ended) co_return false;
  mark(Mark::kFaultEndsOffer);
  node_.predictor.offer_ended(block);
  co_return true;
}

Task<NodeId> HomeWords::settle(Strand& s, std::uint64_t block, NodeId home, NodeId& via) {
  using enum HomeAnswer::What;
  NodeId first = home;
  while (node_.reaches(home)) {
    HomeAnswer answer =
        co_await at_home_.may_store(s, home, block, node_.config.self, via != kNoNode);
    if (answer.what == kUsable) break;
    if (answer.what == kElsewhere) {
      mark(Mark::kFlushFollowsHome);
      via = home;
      home = answer.ask;
      continue;
    }
    mark(Mark::kFlushWaitsForMove);
    bool freed = co_await is_freed(s, block);
    if (freed) co_return kNoNode;
    co_await s.yield();
    home = first;
    via = kNoNode;
  }
  // A home that cannot be reached may not have its bytes yet, and this node cannot see that. So the
  // entry still names the former home: the next request, too, goes by its word and names it
  // (`via`).
  bool known = node_.reaches(home) || mutant(Mutant::kSettleUnconfirmed);
  if (known && node_.entries[block].home() != home) node_.entries[block].set_home(home);
  co_return home;
}

bool HomeWords::tracks_taken(std::uint64_t block) const {
  if (mutant(Mutant::kTakeForgetsTracked)) return false;
  return !mutant(Mutant::kTakeTrustsWord) || !node_.leases.contains(block);
}

Task<> HomeWords::become_home(Strand& s, BlockRange run, bool tracks) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool tracked = tracks && tracks_taken(b);
    if (tracked) {
      mark(Mark::kTakesTrackedHome);
      node_.track(b);
    } else {
      node_.tracked.erase(b);  // it may be tracked from before its region was freed
    }
    node_.leases.erase(b);
    node_.remove_cached(b);
    node_.spare.insert(b);
    node_.entries[b].set_home(node_.config.self, true);
    node_.add_home(b);
    node_.predictor.home_came(b);
    std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{b}});
    std::uint32_t times = (word + (1u << 5)) & kTimes;
    co_await s.perform(StoreWord{BlockId{b}, times | kHere | (tracked ? kTracked : 0)});
  }
}

Task<> HomeWords::track_checked(Strand& s, std::uint64_t block) {
  if (mutant(Mutant::kCheckLeavesUntracked)) co_return;
  node_.track(block);
  co_await store_word(s, block, kTracked | kHere);
}

Task<bool> HomeWords::swap_word(Strand& s, NodeId node, std::uint64_t block, std::uint32_t from,
                                std::uint32_t to) {
  if (mutant(Mutant::kMoveWithoutSwap)) from = co_await s.perform(LoadWord{node, BlockId{block}});
  co_return co_await s.perform(SwapWord{node, BlockId{block}, from, to});
}

bool HomeWords::may_take() const {
  if (!node_.config.migrate || node_.config.limit == ~0ull) return node_.config.migrate;
  std::uint64_t copies = node_.copies() * (node_.scans() ? 2 : 1);
  copies -= std::min(copies, node_.sealed_count.load(std::memory_order_relaxed));
  std::uint64_t idle = node_.idle_count.load(std::memory_order_relaxed);
  return node_.room() + copies + idle > node_.config.reserve;
}

Task<bool> HomeWords::take(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word) {
  std::uint32_t own = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  co_await s.perform(StoreWord{BlockId{block}, own | kComing});
  std::uint32_t moved = word_for(node_.config.self) | kMoved | (word & kTimes);
  bool taken = co_await swap_word(s, home, block, word, moved);
  if (!taken) co_await s.perform(StoreWord{BlockId{block}, own});
  co_return taken;
}

Task<> HomeWords::store_word(Strand& s, std::uint64_t block, std::uint32_t bits) {
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  co_await s.perform(StoreWord{BlockId{block}, (word & kTimes) | bits});
}

bool HomeWords::is_armed_for_us(std::uint32_t word) const {
  return is_armed_for(word, node_.config.self) && may_take();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
