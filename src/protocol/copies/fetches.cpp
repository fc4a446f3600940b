#include "protocol/copies/fetches.h"

#include <algorithm>
#include <array>

#include "protocol/serve/served.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<Fetched> Fetches::fetch(Strand& s, BlockRange run, NodeId home, bool stages,
                             std::uint64_t again) {
  Fetched got{.home = home};
  bool follows = false;
  while (got.count < run.count) {
    std::uint64_t block = run.first + got.count;
    NodeId next = got.home;
    if (!node_.reaches(got.home)) {
      FetchWish wish{.follows = follows,
                     .may_take = homes_.may_take(),
                     .again = static_cast<std::uint32_t>(std::min(again, run.count))};
      Fetched there = co_await fetch_by_message(s, run, got.home, stages, wish);
      if (there.count > 0) co_return there;
      next = there.home;
      run.count = there.same_owner;
    } else {
      std::uint32_t word = co_await s.perform(LoadWord{got.home, BlockId{block}});
      bool here = !(word & kComing) && (!follows || word & (kHere | kMoved));
      if (!here && !mutant(Mutant::kReadTooEarly)) {
        mark(Mark::kFaultWaitsForMove);
      } else if (word & kMoved && !mutant(Mutant::kReadFormerHome)) {
        if (got.count > 0) break;
        mark(Mark::kFaultFollowsHome);
        next = home_in(word);
        run.count = co_await homes_.moved_together(s, run, got.home, next);
      } else {
        bool ours = homes_.is_armed_for_us(word);
        if (got.count > 0 && ours != got.own) break;
        got.own = ours;
        std::uint32_t more = follows ? kHere : 0;
        std::uint64_t good =
            co_await copy_some(s, {block, run.count - got.count}, got, word, more, stages);
        got.count += good;
        continue;
      }
    }
    follows = next != got.home;
    if (!follows && got.count > 0) {  // a home that is just moving is left out
      if (mutant(Mutant::kForgetsWhereFrom)) got.home = home;
      break;
    }
    if (!follows) {
      // The home is just moving. Asks the first node again, since the move may be over.
      run.count = 1;
      bool freed = co_await homes_.is_freed(s, run.first);
      if (freed) co_return Fetched{.home = home, .count = 1};
      co_await s.yield();
    }
    got.home = follows ? next : home;
  }
  co_return got;
}

// For a home in reach: copies at once the first block of the run, whose word is known, and those
// behind it whose words allow it as well and have the bits `must`. Result: how many copies are
// valid, all as got.own says. The caller tries the others again, where their homes are by then.
Task<std::uint64_t> Fetches::copy_some(Strand& s, BlockRange run, Fetched& got, std::uint32_t word,
                                       std::uint32_t must, bool stages) {
  std::array<std::uint32_t, NodeState::kMaxRun> words{};
  BlockRange some{run.first, 0};
  while (some.count < std::min<std::uint64_t>(run.count, NodeState::kMaxRun)) {
    if (some.count > 0) {
      word = co_await s.perform(LoadWord{got.home, BlockId{some.end()}});
      bool fits = !(word & (kComing | kMoved)) && (word & must) == must;
      if (!fits || homes_.is_armed_for_us(word) != got.own) break;
    }
    if (got.own) {
      bool taken = co_await homes_.take(s, some.end(), got.home, word);
      if (!taken) break;
    }
    co_await want(s, some.end(), got.home, word, stages);
    words[some.count++] = word;
  }
  if (some.count == 0) co_return 0;
  std::optional<std::uint64_t> slot;
  if (stages) slot = got.count;
  co_await s.perform(CopyHome{got.home, some, slot});
  std::uint64_t good = 0;
  for (; good < some.count; ++good) {
    std::uint64_t block = some.first + good;
    bool same = got.own;
    if (!same) same = co_await homes_.stayed(s, block, got.home, words[good]);
    if (!same) break;
    if (stages && words[good] & kTracked) got.tracked |= 1ull << (got.count + good);
  }
  if (some.count > 1) mark(good == some.count ? Mark::kFaultCopiesRun : Mark::kFaultCopiesPart);
  for (std::uint64_t b = some.first + good; b < some.end(); ++b) node_.leases.insert(b);
  co_return good;
}

// Before the home's bytes are copied: asks the home to track the block, if it does not yet.
Task<> Fetches::want(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word, bool stages) {
  if (word & kTracked) {
    mark(Mark::kFaultFetchesTracked);
    if (!stages || mutant(Mutant::kRefreshSettlesEarly)) node_.leases.erase(block);
  } else {
    mark(Mark::kFaultFetchesLease);
    bool was = co_await s.perform(SetWanted{home, BlockId{block}});
    if (was) mark(Mark::kFaultFindsWantedSet);
  }
}

Task<Fetched> Fetches::fetch_missed(Strand& s, BlockRange run, NodeId home) {
  SubscriptionPlan plan;
  BlockRange adaptive{run.first, 0};
  while (adaptive.count < run.count && node_.is_adaptive(adaptive.end())) ++adaptive.count;
  bool may = node_.config.tunables.unused_pushes != 0 && !node_.reaches(home) && adaptive.count > 0;
  if (may) plan = node_.predictor.subscribe(adaptive);
  std::uint64_t again = std::min(plan.blocks, adaptive.count);
  std::optional<std::size_t> place;
  if (again > 0) place = subscriptions_.of_misses().reserve();
  Fetched got = co_await fetch(s, run, home, false, place ? again : 0);
  if (place && got.subscribed == 0) subscriptions_.of_misses().release(*place);
  if (!place || got.subscribed == 0) co_return got;
  mark(Mark::kFaultSubscribes);
  subscriptions_.of_misses().fill(*place, {.home = got.home,
                                           .run = {run.first, std::min(got.count, again)},
                                           .after = static_cast<std::uint32_t>(got.subscribed - 1),
                                           .predicted = plan.predicted});
  co_return got;
}

Task<Fetched> Fetches::fetch_by_message(Strand& s, BlockRange run, NodeId home, bool stages,
                                        FetchWish wish) {
  FetchResult answer = co_await s.perform(Fetch{home, run, wish, stages});
  Fetched got{.home = home, .count = answer.count};
  if (got.count == 0) {
    got.home = answer.ask;
    got.same_owner = answer.same;
    mark(got.home != home ? Mark::kFaultSentElsewhere : Mark::kFaultAsksAgain);
    co_return got;
  }
  got.own = answer.own;
  if (got.own) mark(Mark::kFaultTakesHomeByMessage);
  got.subscribed = answer.subscribed;
  got.tracked = answer.tracked;
  mark(got.tracked != 0 ? Mark::kFaultFetchesTrackedByMessage : Mark::kFaultFetchesLeaseByMessage);
  bool early = mutant(Mutant::kRefreshSettlesEarly);
  if (!stages || early) settle_leases({run.first, got.count}, got.tracked);
  co_return got;
}

void Fetches::settle_leases(BlockRange run, std::uint64_t tracked) {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (tracked >> (b - run.first) & 1) node_.leases.erase(b);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
