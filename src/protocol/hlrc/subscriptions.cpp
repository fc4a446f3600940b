#include "protocol/hlrc/subscriptions.h"

#include "protocol/hlrc/notices.h"
#include "protocol/serve/served.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> Subscriptions::expect_promised(Strand& s) {
  while (auto made = misses_promises_.take()) {
    bool stands = made->stands && !expectations_.ends(made->home, made->run);
    if (mutant(Mutant::kExpectsWhatEnded)) stands = true;
    if (!stands) mark(Mark::kAcquireRefusesPromise);
    stands = stands && !expectations_.comes_within(made->home, made->run);
    if (stands && node_.predictor.keeps_subscription(made->run, made->predicted)) {
      expectations_.note(made->home, made->run, made->after);
    } else {
      expectations_.refuse(made->home, made->run);
    }
  }
  co_await end_promises(s);
}

Task<Fetched> Subscriptions::take_news(Strand& s, BlockRange run, NodeId home, Departure at,
                                       std::vector<std::uint32_t>& serials) {
  if (at.number == 0 || node_.reaches(home) || !expectations_.covers(home, run, at.number))
    co_return Fetched{.home = home};
  if (!at.usable) {
    mark(Mark::kAcquireLeavesNews);
    co_return Fetched{.home = home};
  }
  TakenPush pushed = co_await s.perform(TakeNews{home, run, at.number, &serials});
  if (pushed.gone) {
    mark(Mark::kAcquireFindsNewsGone);
    co_await give_up(s, home, run);
    co_return Fetched{.home = home};
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    if (pushed.same >> i & 1 && !has_kept(run.first + i, serials[i]))
      co_return Fetched{.home = home};
  mark(Mark::kAcquireRenewsByNews);
  co_return Fetched{.home = home,
                    .count = run.count,
                    .tracked = pushed.tracked,
                    .same = pushed.same,
                    .news = true};
}

// Whether the copy is still what came by this serial number, whose bytes the home has left out. If
// not, it is asked, and the bytes come with the next news.
bool Subscriptions::has_kept(std::uint64_t block, std::uint32_t serial) const {
  bool kept = node_.entries[block].news == serial || mutant(Mutant::kKeepsAnySerial);
  mark(kept ? Mark::kAcquireKeepsSame : Mark::kAcquireAsksForSame);
  return kept;
}

void Subscriptions::note_news(const std::vector<std::uint32_t>& serials, std::uint64_t block,
                              std::uint64_t index, const Fetched& got) {
  if (got.same >> index & 1) return;
  if (!mutant(Mutant::kMissKeepsSerial) || got.news)
    node_.entries[block].news = got.news ? serials[index] : 0;
}

Task<bool> Subscriptions::give_up(Strand& s, NodeId home, BlockRange run) {
  expectations_.give_up(home, run);
  if (!mutant(Mutant::kEndsPromiseLate)) co_await end_promises(s);
  co_return true;
}

Task<> Subscriptions::end_promises(Strand& s) {
  auto ended = expectations_.take_ended();
  if (ended.empty()) co_return;
  misses_promises_.ending(true);
  for (const auto& [home, run] : ended) {
    mark(Mark::kAcquireEndsPromise);
    co_await s.perform(EndPromise{home, run});
  }
  misses_promises_.ending(false);
}

Brought Subscriptions::brought_by(const Strand& s, std::uint64_t block, NodeId home,
                                  Departure at) const {
  const Grant::Block* granted = at.grant.find(block);
  if (granted == nullptr) return Brought::kNot;
  const wire::GrantedBlock& head = granted->head;
  bool arrival = at.number != 0;
  if (arrival && Notices::is_named(s.inbox, NodeId{head.home}, {block, 1})) {
    mark(Mark::kAcquireLeavesOverwritten);
    return Brought::kNot;
  }
  if (!at.usable) mark(arrival ? Mark::kAcquireLeavesNews : Mark::kLockLeavesGranted);
  bool good = at.usable && NodeId{head.home} == home;
  if (good && head.bytes > 0) return Brought::kHere;
  if (!arrival) return Brought::kNot;
  if (good && head.serial != 0)
    return has_kept(block, head.serial) ? Brought::kHere : Brought::kStale;
  if (good) mark(Mark::kAcquireFindsNewsGone);
  return good ? Brought::kGone : Brought::kStale;
}

Task<Fetched> Subscriptions::take_granted(Strand& s, BlockRange run, NodeId home, Departure at,
                                          std::vector<std::uint32_t>& serials) {
  mark(at.number == 0 ? Mark::kLockRenewsByGrant : Mark::kAcquireRenewsByArrival);
  Fetched got{.home = home, .count = run.count, .news = at.number != 0};
  serials.resize(run.count);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    const Grant::Block* granted = at.grant.find(run.first + i);
    TERRANE_CHECK(granted != nullptr, "it has been looked for");
    serials[i] = granted->head.serial;
    if (granted->head.tracked != 0) got.tracked |= 1ull << i;
    if (granted->head.bytes == 0) got.same |= 1ull << i;
    if (granted->head.bytes == 0) continue;
    co_await s.perform(TakeGranted{BlockId{run.first + i}, at.grant.bytes.data() + granted->at, i});
  }
  co_return got;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
