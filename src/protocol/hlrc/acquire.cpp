#include <algorithm>

#include "protocol/hlrc/hlrc.h"
#include "protocol/steps/runs.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
Task<bool> Hlrc::lock(Strand& s, LockId id) {
  predictor_.lock_asked(id);
  Event acquire = LockAcquire{id, s.waiter(), settled_activity()};
  auto how = static_cast<Acquired>(co_await s.call(acquire));
  if (how == Acquired::kHere) predictor_.lock_reused(id);
  Grant grant;
  if (how == Acquired::kWithBlocks) grant = open_grant(s);
  if (how == Acquired::kRemote || how == Acquired::kWithBlocks)
    co_await apply(s, 0, grant.activity, grant, id);
  co_return how != Acquired::kHeldAlready;
}

Task<LockResult> Hlrc::try_lock(Strand& s, LockId id) {
  Event attempt = LockTry{id, s.waiter(), settled_activity()};
  auto how = static_cast<Acquired>(co_await s.call(attempt));
  if (how == Acquired::kBusy) co_return LockResult::kBusy;
  if (how == Acquired::kHeldAlready) co_return LockResult::kHeldAlready;
  Grant grant;
  if (how == Acquired::kWithBlocks) grant = open_grant(s);
  if (how != Acquired::kHere) co_await apply(s, 0, grant.activity, grant, id);
  co_return LockResult::kOk;
}

// This node's activity, if nothing that counts is just under way: whoever has counted before this
// looks has then ended, too.
std::uint64_t Hlrc::settled_activity() const {
  std::uint64_t activity = activity_.load();
  bool busy = consistency_.load() != 0 && !mutant(Mutant::kGrantDuringFlush);
  return busy ? kUnsettled : activity;
}

// The grant in s.inbox, or an arrival: what is behind the notice set, which alone stays there.
Hlrc::Grant Hlrc::open_grant(Strand& s) {
  Bytes message(s.inbox);
  GrantHead head{};
  TERRANE_CHECK(wire::take(message, head) && head.notice_bytes <= message.size(),
                "a grant is whole");
  Grant grant{.activity = head.activity};
  Bytes granted = message.subspan(head.notice_bytes);
  grant.bytes.assign(granted.begin(), granted.end());
  Grant::Block one{};
  for (Bytes rest(grant.bytes); wire::take(rest, one.head); rest = rest.subspan(one.head.bytes)) {
    one.at = static_cast<std::uint32_t>(grant.bytes.size() - rest.size());
    grant.blocks.push_back(one);
  }
  s.inbox.resize(sizeof head + head.notice_bytes);
  s.inbox.erase(s.inbox.begin(), s.inbox.begin() + sizeof head);
  return grant;
}

Task<LockResult> Hlrc::unlock(Strand& s, LockId id) {
  bool may = config_.lazy && !eager_seen_.load(std::memory_order_relaxed);
  std::uint32_t extends = may ? predictor_.extends_turn(id) : 0;
  bool lazily = may && (extends > 0 || !predictor_.release_at_once(id));
  Event hand_off = LockHandOff{id, s.waiter(), lazily, releases_begun_.load(), extends};
  auto answer = static_cast<HandOff>(co_await s.call(hand_off));
  if (answer == HandOff::kNotHeld) co_return LockResult::kNotHeld;
  if (answer != HandOff::kRelease) co_return LockResult::kOk;
  bool early = mutant(Mutant::kFlushAfterGrant);
  if (!early) co_await release(s);
  Event release_lock = LockRelease{id, s.waiter(), settled_activity()};
  co_await s.tell(release_lock);
  if (early) co_await release(s);
  co_return LockResult::kOk;
}

// The token leaves some time after its node's turn was extended.
Task<bool> Hlrc::end_turn(Strand& s, LockId id) {
  co_await s.pause();
  Event end = LockEndTurn{id};
  co_await s.tell(end);
  co_return true;
}

// A release that began after the lock was given back has found what its holder wrote.
Task<std::uint64_t> Hlrc::release_kept(Strand& s, ReleaseKept kept) {
  predictor_.lock_left(kept.lock);
  std::uint64_t needed = kept.releases + (mutant(Mutant::kKeptTrustsOldRelease) ? 0 : 1);
  if (releases_ended_.load() >= needed) {
    mark(Mark::kReleaseKeptDone);
  } else {
    co_await release(s);
  }
  co_return settled_activity();
}

Task<bool> Hlrc::barrier(Strand& s, BarrierId id, std::uint32_t threads_here,
                         Contribution contribution) {
  bool calm = threads_here == 1 && contribution.op == ReduceOp::kNone && is_calm(id);
  if (calm && predictor_.meets(id)) {
    mark(Mark::kBarrierCalm);
    bool held = co_await meet(s, id, meetings_[id.value].told);
    if (held) co_return true;
  }
  Event come = BarrierEnter{id, threads_here, s.waiter(), contribution};
  auto role = static_cast<BarrierRole>(co_await s.call(come));
  if (role != BarrierRole::kLast) co_return role == BarrierRole::kLeft;
  std::uint64_t activity = co_await release(s);
  Event go = BarrierLeave{id};
  if (!calm && may_meet(id) && predictor_.meets(id)) {
    bool held = co_await meet_released(s, id);
    if (held) co_await s.tell(go);
    if (held) co_return true;
  }
  std::uint64_t acquired = acquired_.load();
  std::vector<std::uint64_t> along = select_along();
  Event arrive = BarrierArrive{id, s.waiter(), acquired != acquired_before_.load(), &along};
  std::uint64_t departure = co_await s.call(arrive);
  acquired_before_.store(acquired);
  Grant grant;
  if (departure & kAlongCame) grant = open_grant(s);
  auto number = static_cast<std::uint32_t>(departure);
  co_await send_news(s, number, along, (departure & kAlongStands) != 0);
  co_await wait_for_departure(s, number - 1);
  co_await apply(s, number, activity, grant);
  bool waited = departures_.exchange(number * 2, std::memory_order_acq_rel) & 1;
  predictor_.barrier_passed();
  if (waited) co_await s.wake(departures_);
  Event ask = BarrierResult{id, s.waiter()};
  if (contribution.op != ReduceOp::kNone) co_await s.call(ask);
  co_await s.tell(go);
  co_return (departure & kContributionsDiffer) == 0;
}

// Whether rounds of the barrier can be held in memory.
bool Hlrc::may_meet(BarrierId id) const { return meets_ && id.value < CentralBarrier::kPlaces; }

// Whether nothing has to be done for a round that is tried in memory: since the last
// one, which was held and found no copies and nothing tracked, none of what a release looks for has
// come.
bool Hlrc::is_calm(BarrierId id) const {
  if (!may_meet(id)) return false;
  const Meeting& meeting = meetings_[id.value];
  if (!meeting.calm) return false;
  bool same = meeting.changes == core_.changes() &&
              meeting.disturbed == disturbed_.load(std::memory_order_acquire) &&
              meeting.taken == taken_.load(std::memory_order_acquire);
  if (!same && !mutant(Mutant::kCalmForgetsChanges)) return false;
  return cached() == 0 || mutant(Mutant::kCalmForgetsCopies);
}

// A round in which no node has notices to give, none has leases, which would die, and none has
// homes that may follow their writers: nothing has to be sent. After this node's release.
Task<bool> Hlrc::meet_released(Strand& s, BarrierId id) {
  Meeting& meeting = meetings_[id.value];
  meeting.disturbed = settled_.load(std::memory_order_acquire);
  meeting.taken = settled_taken_.load(std::memory_order_relaxed);
  meeting.changes = core_.changes();
  Event ask = BarrierTold{id, s.waiter()};
  std::uint64_t told = co_await s.call(ask);
  if (has_leases() || others_wrote_.load(std::memory_order_relaxed)) told = 0;
  bool held = co_await meet(s, id, told);
  meeting.calm = held && cached() == 0 && tracked_.next_run(0, config_.blocks).count == 0;
  meeting.told = told;
  co_return held;
}

// told: how many departures were learned, + 1; 0: the round cannot be held.
Task<bool> Hlrc::meet(Strand& s, BarrierId id, std::uint64_t told) {
  Meet step{.barrier = static_cast<std::uint32_t>(id.value)};
  if (told != 0) step.told = static_cast<std::uint32_t>(told - 1);
  bool held = co_await s.perform(step);
  predictor_.met(id, held);
  mark(held ? Mark::kBarrierHeldInMemory : Mark::kBarrierNotHeld);
  if (!held) co_return false;
  predictor_.barrier_passed();
  // A miss of another thread counts its copy before it reads what that was before the round.
  bool copies = cached_count_.load(std::memory_order_seq_cst) != 0;
  if (copies && has_leases() && !mutant(Mutant::kMeetingKeepsLeases)) {
    mark(Mark::kBarrierDropsLeases);
    s.inbox.clear();
    Grant nothing;
    co_await apply(s, 0, kUnsettled, nothing);
  }
  co_return true;
}

Task<> Hlrc::last_barrier(Strand& s, BarrierId id) {
  Event come = BarrierEnter{id, 1, s.waiter()};
  co_await s.call(come);
  co_await release(s);
  Event arrive = BarrierArrive{id, s.waiter()};
  co_await s.call(arrive);
}

// Barriers of different threads may depart at once. A set says only what earlier departures have
// not told, so it is applied after them.
Task<> Hlrc::wait_for_departure(Strand& s, std::uint32_t number) {
  co_await s.pause();
  std::uint32_t seen = departures_.load(std::memory_order_acquire);
  while (seen / 2 != number && !mutant(Mutant::kDeparturesUnordered)) {
    mark(Mark::kBarrierWaitsForDeparture);
    if (!(seen & 1) && !departures_.compare_exchange_strong(seen, seen | 1)) continue;
    co_await s.wait(departures_, seen | 1);
    seen = departures_.load(std::memory_order_acquire);
  }
}

Task<> Hlrc::enter(Strand& s) {
  if (mutant(Mutant::kNoReleaseLock)) co_return;
  co_await s.pause();
  std::uint32_t free = 0;
  if (consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire)) co_return;
  mark(Mark::kConsistencyLockContended);
  while (consistency_.exchange(2, std::memory_order_acquire) != 0) co_await s.wait(consistency_, 2);
}

Task<> Hlrc::leave(Strand& s) {
  bool waited = consistency_.exchange(0, std::memory_order_release) == 2;
  if (waited && !mutant(Mutant::kLoseWake)) co_await s.wake(consistency_);
}

// What the acquired notice set (s.inbox) makes stale is dropped, or brought up to date; only then
// does this node know what it says. departure: its number, or 0 where the set came with `lock`, or
// is empty; activity: this node's when it arrived, or asked for the lock; grant: blocks that came
// with the set.
Task<> Hlrc::apply(Strand& s, std::uint32_t departure, std::uint64_t activity, const Grant& grant,
                   std::optional<LockId> lock) {
  if (config_.nodes == 1) co_return;
  co_await enter(s);
  Mutant careless = departure == 0 ? Mutant::kGrantAfterOthers : Mutant::kNewsAfterOthers;
  std::vector<wire::WantedBlock> wanted;
  Departure at{departure, activity_ == activity || mutant(careless), grant, &wanted};
  ++activity_;
  if (departure == 0) predictor_.lock_acquired();
  if (departure == 0) acquired_.fetch_add(1);
  co_await expect_promised(s);
  select_invalid(s);
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    BlockRange run = s.runs[i];
    co_await renew_or_invalidate(s, run, at);
  }
  if (wanted.size() > wire::kMostWanted) {
    mark(Mark::kLockNamesTooMany);
    wanted.clear();
  }
  if (lock && !predictor_.names_with_lock(*lock)) wanted.clear();
  if (departure != 0 && expectations_.may_have_come()) {
    expectations_.depart(departure);
    co_await end_promises(s);
    co_await s.perform(ForgetNews{departure});
  }
  if (departure != 0 && config_.migrate) co_await offer_homes(s);
  Event learn = Learn{s.inbox, departure != 0, lock.value_or(LockId{}), lock ? &wanted : nullptr};
  co_await s.tell(learn);
  co_await leave(s);
}

void Hlrc::select_cached(Strand& s, BlockRange within) const {
  BlockRange run = cached_.next_run(within.first, within.end());
  while (run.count > 0) {
    s.runs.push_back(run);
    run = cached_.next_run(run.end(), within.end());
  }
}

// Copies that die at this acquire -> s.runs, sorted and joined: leases all, others where a notice
// that is new here names them, everything where the set starts after what this node knows.
void Hlrc::select_invalid(Strand& s) const {
  s.runs.clear();
  const VectorTimestamp& known = core_.timestamp();
  bool everything = false;
  wire::NoticeReader reader(s.inbox);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    bool own = entry.node == config_.self.value;
    if (!own && entry.base > known[entry.node] && !mutant(Mutant::kIgnoreLogHole))
      everything = true;
    while (reader.next_record(record)) {
      bool fresh = !own && record.interval > known[entry.node];
      if (!fresh) mark(Mark::kAcquireSkipsKnownInterval);
      while (reader.next_range(range)) {
        if (fresh) select_cached(s, range);
      }
    }
  }
  if (!s.runs.empty()) mark(Mark::kAcquireDropsNoticed);
  if (everything) {
    mark(Mark::kAcquireDropsEverything);
    s.runs.clear();
    select_cached(s, {0, config_.blocks});
    return;
  }
  if (!mutant(Mutant::kKeepLease)) {
    BlockRange run = leases_.next_run(0, config_.blocks);
    if (run.count > 0) mark(Mark::kAcquireDropsLease);
    while (run.count > 0) {
      s.runs.push_back(run);
      run = leases_.next_run(run.end(), config_.blocks);
    }
  }
  join(s.runs);
}

// BUSY, zap, difference to the twin brought home, INVALID: in this order no write is lost. punch:
// the copies are evicted, and their memory goes.
Task<> Hlrc::invalidate(Strand& s, BlockRange run, bool punch) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (entries_[b].busy()) mark(Mark::kInvalidateWaitsForBusyBlock);
    co_await lock_block(s, b);
  }
  bool early = mutant(Mutant::kDiffBeforeZap);
  if (!early) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await invalidate_block(s, b, punch);
    if (early) co_await s.perform(Zap{{b, 1}});
  }
  if (mutant(Mutant::kInvalidBeforeFlushed)) s.posted = false;
  co_await await_flush(s);
  co_await finish_invalid(s, run, punch);
}

// What the copy has more than its home goes there, and the sets forget it.
Task<> Hlrc::invalidate_block(Strand& s, std::uint64_t block, bool evicted) {
  BlockState state = entries_[block].state();
  if (state == BlockState::kInvalid || state == BlockState::kHome) {
    // While this waited for the block its fetch gave up, and another thread may have claimed it. A
    // fault maps it again; what the zapped entry knew of writes is taken for certain.
    mark(Mark::kInvalidateFindsNoCopy);
    bool home = state == BlockState::kHome && tracked_.contains(block);
    if (home && !mutant(Mutant::kKeepFailedFetch)) co_await untrack(s, block);
    co_return;
  }
  std::vector<BlockRange>::size_type before = notices_.size();
  bool dirty = co_await may_be_dirty(s, block, state);
  if (evicted && mutant(Mutant::kPunchBeforeDiff)) co_await s.perform(Punch{{block, 1}});
  if (evicted && mutant(Mutant::kTwinBeforeDiff)) co_await s.perform(DropTwin{{block, 1}});
  bool forgets =
      mutant(Mutant::kInvalidateWithoutDiff) || (evicted && mutant(Mutant::kEvictWithoutDiff));
  if (dirty && !forgets) {
    Pushed pushed = co_await push_changes(s, block, mutant(Mutant::kDiffBeforeZap), !scans());
    bool mine = pushed.mine;
    if (mine) mark(Mark::kInvalidateClaimsHome);
    if (mine) spare_.insert(block);
    if (notices_.size() > before) mark(Mark::kInvalidateFlushesDirty);
    bool silent =
        mutant(Mutant::kForgetInvalidated) || (evicted && mutant(Mutant::kEvictWithoutNotice));
    if (silent && notices_.size() > before) notices_.resize(before);
  }
  written_.erase(block);
  leases_.erase(block);
  remove_cached(block);
}

// The copies of the run become invalid. The memory of one may go unless the block found its home
// here. In one loop: a coroutine for each block that never stops would pile up where the compiler
// makes no tail calls.
Task<> Hlrc::finish_invalid(Strand& s, BlockRange run, bool punch) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = entries_[b].state();
    bool copy = state == BlockState::kClean || state == BlockState::kWritten;
    bool gone = copy && entries_[b].home() != config_.self;
    if (gone && punch) co_await s.perform(Punch{{b, 1}});
    if (gone && !punch) add_idle(b);
    if (entries_[b].unlock(copy ? BlockState::kInvalid : state))
      co_await s.wake(entries_[b].word());
  }
}

// With write detection by scan, the comparison with the twin tells. A copy of zeros that was only
// read must not claim its block: it may be in a region that is being freed.
Task<bool> Hlrc::may_be_dirty(Strand& s, std::uint64_t block, BlockState state) {
  if (!scans()) co_return state == BlockState::kWritten;
  if (entries_[block].home() != kNoNode) co_return true;
  std::uint64_t changed = co_await s.perform(StoreDiff{config_.self, BlockId{block}});
  if (changed == 0) mark(Mark::kInvalidateFindsZeros);
  co_return changed > 0;
}

Task<> Hlrc::drop(Strand& s, [[maybe_unused]] RegionId region, BlockRange range) {
  co_await enter(s);
  ++activity_;
  acquired_.fetch_add(1);
  for (std::uint64_t at = range.first; at < range.end(); at += kDropBatch) {
    std::uint64_t left = range.end() - at;
    BlockRange run{at, std::min(left, kDropBatch)};
    co_await drop_run(s, run);
  }
  forget_writers(range);
  predictor_.region_freed(range);
  co_await leave(s);
}

// Freed blocks: their copies, their homes and their places in the directory are forgotten; they
// will read as zeros.
Task<> Hlrc::drop_run(Strand& s, BlockRange run) {
  bool used = false;
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await lock_block(s, b);
    bool present = entries_[b].state() != BlockState::kInvalid;
    used = used || present;
    if (present)
      mark(entries_[b].state() == BlockState::kHome ? Mark::kDropHome : Mark::kDropCached);
  }
  if (used) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await s.perform(StoreWord{BlockId{b}, 0});
    co_await s.perform(ClearOwner{BlockId{b}});
    tracked_.erase(b);
    leases_.erase(b);
    written_.erase(b);
    remove_cached(b);
    remove_idle(b);
    leaving_.erase(b);
    spare_.erase(b);
    entries_[b].set_policy({}, {});
    entries_[b].mark_dropped();
    predictor_.forget(b);
  }
  if (!mutant(Mutant::kDropKeepsMemory)) co_await s.perform(Punch{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (entries_[b].unlock(BlockState::kInvalid)) co_await s.wake(entries_[b].word());
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
