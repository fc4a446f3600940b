#include "protocol/copies/subscriptions.h"

#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> Subscriptions::expect_subscribed(Strand& s) {
  while (auto made = of_misses_.take()) {
    bool is_valid = made->is_valid && !runs_.ends(made->home, made->run);
    if (mutant(Mutant::kExpectsWhatEnded)) is_valid = true;
    if (!is_valid) mark(Mark::kAcquireRefusesSubscription);
    is_valid = is_valid && !runs_.comes_within(made->home, made->run);
    if (is_valid && node_.predictor.keeps_subscription(made->run, made->predicted)) {
      runs_.note(made->home, made->run, made->after);
    } else {
      runs_.refuse(made->home, made->run);
    }
  }
  co_await end_subscriptions(s);
}

Task<Fetched> Subscriptions::take_push(Strand& s, BlockRange run, NodeId home, AcquirePoint at,
                                       std::vector<std::uint32_t>& versions) {
  if (at.number == 0 || node_.reaches(home) || !runs_.covers(home, run, at.number))
    co_return Fetched{.home = home};
  if (!at.usable) {
    mark(Mark::kAcquireLeavesPush);
    co_return Fetched{.home = home};
  }
  TakenPush taken = co_await s.perform(TakePush{home, run, at.number, &versions});
  if (taken.gone) {
    mark(Mark::kAcquireFindsPushGone);
    co_await give_up(s, home, run);
    co_return Fetched{.home = home};
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    if (taken.same >> i & 1 && !has_version(run.first + i, versions[i]))
      co_return Fetched{.home = home};
  mark(Mark::kAcquireRefreshesByPush);
  co_return Fetched{.home = home,
                    .count = run.count,
                    .tracked = taken.tracked,
                    .same = taken.same,
                    .pushed = true};
}

// Whether the copy still has this version, whose bytes the home has not sent. If not, the home is
// asked, and its next push has the bytes.
bool Subscriptions::has_version(std::uint64_t block, std::uint32_t version) const {
  bool kept = node_.entries[block].version == version || mutant(Mutant::kKeepsAnyVersion);
  mark(kept ? Mark::kAcquireKeepsSame : Mark::kAcquireAsksForSame);
  return kept;
}

void Subscriptions::note_version(const std::vector<std::uint32_t>& versions, std::uint64_t block,
                                 std::uint64_t index, const Fetched& got) {
  if (got.same >> index & 1) return;
  if (!mutant(Mutant::kMissKeepsVersion) || got.pushed)
    node_.entries[block].version = got.pushed ? versions[index] : 0;
}

Task<bool> Subscriptions::give_up(Strand& s, NodeId home, BlockRange run) {
  runs_.give_up(home, run);
  if (!mutant(Mutant::kEndsSubscriptionLate)) co_await end_subscriptions(s);
  co_return true;
}

Task<> Subscriptions::end_subscriptions(Strand& s) {
  auto ended = runs_.take_ended();
  if (ended.empty()) co_return;
  of_misses_.ending(true);
  for (const auto& [home, run] : ended) {
    mark(Mark::kAcquireEndsSubscription);
    co_await s.perform(EndSubscription{home, run});
  }
  of_misses_.ending(false);
}

Sent Subscriptions::sent_with(std::uint64_t block, NodeId home, AcquirePoint at) const {
  const Grant::Block* granted = at.grant.find(block);
  if (granted == nullptr) return Sent::kNot;
  const wire::GrantedBlock& head = granted->head;
  bool arrival = at.number != 0;
  if (arrival && Notices::is_named(at.grant.notices, NodeId{head.home}, {block, 1})) {
    mark(Mark::kAcquireLeavesOverwritten);
    return Sent::kNot;
  }
  if (!at.usable) mark(arrival ? Mark::kAcquireLeavesPush : Mark::kLockLeavesGranted);
  bool good = at.usable && NodeId{head.home} == home;
  if (good && head.bytes > 0) return Sent::kHere;
  if (!arrival) return Sent::kNot;
  if (good && head.version != 0)
    return has_version(block, head.version) ? Sent::kHere : Sent::kStale;
  if (good) mark(Mark::kAcquireFindsPushGone);
  return good ? Sent::kGone : Sent::kStale;
}

Task<Fetched> Subscriptions::take_granted(Strand& s, BlockRange run, NodeId home, AcquirePoint at,
                                          std::vector<std::uint32_t>& versions) {
  mark(at.number == 0 ? Mark::kLockRefreshesByGrant : Mark::kAcquireRefreshesByArrival);
  Fetched got{.home = home, .count = run.count, .pushed = at.number != 0};
  versions.resize(run.count);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    const Grant::Block* granted = at.grant.find(run.first + i);
    TERRANE_CHECK(granted != nullptr, "it has been looked for");
    versions[i] = granted->head.version;
    if (granted->head.tracked != 0) got.tracked |= 1ull << i;
    if (granted->head.bytes == 0) got.same |= 1ull << i;
    if (granted->head.bytes == 0) continue;
    co_await s.perform(TakeGranted{BlockId{run.first + i}, at.grant.bytes.data() + granted->at, i});
  }
  co_return got;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
