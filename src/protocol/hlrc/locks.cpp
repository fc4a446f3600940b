#include "protocol/hlrc/locks.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<Acquired> Locks::take(Strand& s, LockId id) {
  node_.predictor.lock_asked(id);
  Event acquire = LockAcquire{id, s.waiter(), node_.settled_activity()};
  auto how = static_cast<Acquired>(co_await s.call(acquire));
  if (how == Acquired::kHere) node_.predictor.lock_reused(id);
  co_return how;
}

Task<bool> Locks::lock(Strand& s, LockId id) {
  Acquired how = co_await take(s, id);
  if (how == Acquired::kRemote || how == Acquired::kWithBlocks) {
    Grant grant = grant_of(s, how);
    co_await acquires_.apply(s, 0, grant.activity, grant, id);
  }
  co_return how != Acquired::kHeldAlready;
}

Task<std::optional<Grant>> Locks::take_count(Strand& s, LockId id) {
  Acquired how = co_await take(s, id);
  bool came = how == Acquired::kRemote || how == Acquired::kWithBlocks;
  if (!came || node_.config.nodes == 1) co_return std::nullopt;
  Grant grant = grant_of(s, how);
  co_await acquires_.learn(s, grant);
  co_return grant;
}

Task<LockResult> Locks::try_lock(Strand& s, LockId id) {
  Event attempt = LockTry{id, s.waiter(), node_.settled_activity()};
  auto how = static_cast<Acquired>(co_await s.call(attempt));
  if (how == Acquired::kBusy) co_return LockResult::kBusy;
  if (how == Acquired::kHeldAlready) co_return LockResult::kHeldAlready;
  if (how != Acquired::kHere) {
    Grant grant = grant_of(s, how);
    co_await acquires_.apply(s, 0, grant.activity, grant, id);
  }
  co_return LockResult::kOk;
}

// What came with the token from another node.
Grant Locks::grant_of(Strand& s, Acquired how) {
  return how == Acquired::kWithBlocks ? Grant::with_blocks(s.take_answer())
                                      : Grant::of_notices(s.take_answer());
}

Task<LockResult> Locks::unlock(Strand& s, LockId id) {
  bool may = node_.config.lazy && !node_.config.check_races && !homes_.has_seen_eager();
  std::uint32_t extends = may ? node_.predictor.extends_turn(id) : 0;
  bool lazily = may && (extends > 0 || !node_.predictor.release_at_once(id));
  Event hand_off = LockHandOff{id, s.waiter(), lazily, releases_.begun(), extends};
  auto answer = static_cast<HandOff>(co_await s.call(hand_off));
  if (answer == HandOff::kNotHeld) co_return LockResult::kNotHeld;
  if (answer != HandOff::kRelease) co_return LockResult::kOk;
  bool early = mutant(Mutant::kFlushAfterGrant);
  if (!early) co_await releases_.release(s);
  Event release_lock = LockRelease{id, s.waiter(), node_.settled_activity()};
  co_await s.tell(release_lock);
  if (early) co_await releases_.release(s);
  co_return LockResult::kOk;
}

Task<> Locks::end_turn(Strand& s, LockId id) {
  co_await s.pause();
  Event end = LockEndTurn{id};
  co_await s.tell(end);
}

Task<std::uint64_t> Locks::release_kept(Strand& s, ReleaseKept kept) {
  node_.predictor.lock_left(kept.lock);
  std::uint64_t needed = kept.releases + (mutant(Mutant::kKeptTrustsOldRelease) ? 0 : 1);
  if (releases_.ended() >= needed) {
    mark(Mark::kReleaseKeptDone);
  } else {
    co_await releases_.release(s);
  }
  co_return node_.settled_activity();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
