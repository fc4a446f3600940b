#include "protocol/copies/fetches.h"

#include <algorithm>

#include "protocol/copies/own_reader.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<Fetched> Fetches::fetch(Strand& s, BlockRange run, NodeId home, bool stages,
                             std::uint64_t again) {
  NodeId from = home;
  bool follows = false;
  for (;;) {
    Fetched got = co_await ask(s, run, from, stages,
                               {.follows = follows,
                                .may_take = homes_.may_take(),
                                .again = static_cast<std::uint32_t>(std::min(again, run.count))});
    if (got.count > 0) {
      if (mutant(Mutant::kForgetsWhereFrom)) got.home = home;
      co_return got;
    }
    follows = got.home != from;
    if (follows) {
      mark(Mark::kFaultFollowsHome);
      from = got.home;
      run.count = got.same_owner;
      continue;
    }
    // The home is just moving. Asks the first node again, since the move may be over.
    mark(Mark::kFaultWaitsForMove);
    bool freed = co_await homes_.is_freed(s, run.first);
    if (freed) co_return Fetched{.home = home, .count = 1};
    co_await s.yield();
    from = home;
    run.count = 1;
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

Task<Fetched> Fetches::ask(Strand& s, BlockRange run, NodeId home, bool stages, FetchWish wish) {
  bool reached = node_.reaches(home);
  FetchResult answer;
  if (reached) {
    OwnReader reader(homes_, home, run.first, stages);
    answer = co_await at_home_.read(s, run, home, wish.follows, reader);
  } else {
    answer = co_await s.perform(Fetch{home, run, wish, stages});
  }
  Fetched got{.home = home, .count = answer.count};
  if (got.count == 0) {
    got.home = answer.ask;
    got.same_owner = answer.same;
    if (reached && got.home != home)
      got.same_owner = co_await at_home_.moved_together(s, run, home, got.home);
    co_return got;
  }
  got.own = answer.own;
  if (got.own && !reached) mark(Mark::kFaultTakesHomeByMessage);
  got.subscribed = answer.subscribed;
  got.tracked = answer.tracked;
  bool tracked = got.tracked != 0;
  if (reached) {
    mark(tracked ? Mark::kFaultFetchesTracked : Mark::kFaultFetchesLease);
  } else {
    mark(tracked ? Mark::kFaultFetchesTrackedByMessage : Mark::kFaultFetchesLeaseByMessage);
  }
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
