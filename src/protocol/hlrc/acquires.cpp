#include "protocol/hlrc/acquires.h"

#include "protocol/steps/runs.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// If homes look for races: what this node's threads have changed so far did not happen after what
// this acquire makes known, so it belongs to an interval of its own. (A barrier's release came just
// before.)
Task<> Acquires::close_interval(Strand& s) {
  bool closes = node_.config.check_races && !mutant(Mutant::kCheckJoinsIntervals);
  if (closes) co_await releases_.release(s);
}

Task<> Acquires::apply(Strand& s, std::uint32_t barrier_exit, std::uint64_t activity,
                       const Grant& grant, std::optional<LockId> lock) {
  if (node_.config.nodes == 1) co_return;
  if (barrier_exit == 0) co_await close_interval(s);
  co_await node_.enter(s);
  Mutant careless = barrier_exit == 0 ? Mutant::kGrantAfterOthers : Mutant::kPushAfterOthers;
  std::vector<wire::WantedBlock> wanted;
  AcquirePoint at{.number = barrier_exit,
                  .usable = node_.activity == activity || mutant(careless),
                  .grant = grant,
                  .wanted = &wanted};
  ++node_.activity;
  if (barrier_exit == 0) node_.predictor.acquired(false);
  if (barrier_exit == 0) node_.acquired.fetch_add(1);
  co_await subscriptions_.expect_subscribed(s);
  select_invalid(grant.notices);
  for (const BlockRange& run : invalid_) co_await refreshes_.refresh_or_invalidate(s, run, at);
  if (lock) name_wanted(*lock, wanted);
  if (barrier_exit != 0 && subscriptions_.runs().may_have_come()) {
    subscriptions_.runs().end_exit(barrier_exit);
    co_await subscriptions_.end_subscriptions(s);
    co_await s.perform(ForgetPushes{barrier_exit});
  }
  if (barrier_exit != 0 && node_.config.migrate) co_await offers_.offer_homes(s, grant.notices);
  Event learn =
      Learn{grant.notices, barrier_exit != 0, lock.value_or(LockId{}), lock ? &wanted : nullptr};
  co_await s.tell(learn);
  co_await node_.leave(s);
}

Task<> Acquires::apply_unnumbered(Strand& s, Bytes notices) {
  if (node_.config.nodes == 1) co_return;
  co_await close_interval(s);
  co_await node_.enter(s);
  ++node_.activity;
  co_await subscriptions_.expect_subscribed(s);
  select_invalid(notices);
  Grant nothing;
  AcquirePoint at{.grant = nothing, .at_barrier = true};
  for (const BlockRange& run : invalid_) {
    co_await refreshes_.refresh_or_invalidate(s, run, at);
  }
  Event learn = Learn{notices, false};
  if (!notices.empty()) co_await s.tell(learn);
  co_await node_.leave(s);
}

Task<> Acquires::apply_at_fence(Strand& s, Bytes notices) {
  co_await node_.enter(s);
  ++node_.activity;
  node_.acquired.fetch_add(1);
  co_await subscriptions_.expect_subscribed(s);
  select_invalid(notices);
  Grant nothing;
  AcquirePoint at{.grant = nothing, .at_fence = true};
  for (const BlockRange& run : invalid_) co_await refreshes_.refresh_or_invalidate(s, run, at);
  Event learn = Learn{notices, false};
  if (!notices.empty()) co_await s.tell(learn);
  co_await node_.leave(s);
}

Task<> Acquires::learn(Strand& s, Grant& grant) {
  co_await close_interval(s);
  co_await node_.enter(s);
  if (node_.activity != grant.activity) grant.activity = kUnsettled;
  ++node_.activity;
  node_.acquired.fetch_add(1);
  co_await subscriptions_.expect_subscribed(s);
  select_invalid(grant.notices);
  Event learn = Learn{grant.notices, false};
  co_await s.tell(learn);
  if (mutant(Mutant::kCountLearnsUnlocked)) co_await node_.leave(s);
}

Task<> Acquires::apply_learned(Strand& s, const Grant& grant, LockId count, bool at_rendezvous) {
  if (mutant(Mutant::kCountLearnsUnlocked)) co_await node_.enter(s);
  if (!at_rendezvous) node_.predictor.acquired(false);
  std::vector<wire::WantedBlock> wanted;
  AcquirePoint at{.usable = grant.activity != kUnsettled,
                  .grant = grant,
                  .at_barrier = at_rendezvous,
                  .wanted = &wanted};
  for (const BlockRange& run : invalid_) co_await refreshes_.refresh_or_invalidate(s, run, at);
  name_wanted(count, wanted);
  Event want = Learn{{}, false, count, &wanted};
  co_await s.tell(want);
  co_await node_.leave(s);
}

Task<> Acquires::await_others(Strand& s) {
  co_await node_.enter(s);
  co_await node_.leave(s);
}

// Chooses which blocks the next request for the lock names: those that this acquire had to fetch.
void Acquires::name_wanted(LockId lock, std::vector<wire::WantedBlock>& wanted) const {
  if (wanted.size() > wire::kMostWanted) {
    mark(Mark::kLockNamesTooMany);
    wanted.clear();
  }
  if (!node_.predictor.names_with_lock(lock)) wanted.clear();
}

// Collects in invalid_, sorted and joined, the copies that die at this acquire: all leases, and
// copies in notices that are new here. All copies, if a notice set begins after what this node
// knows.
void Acquires::select_invalid(Bytes notices) {
  invalid_.clear();
  const VectorTimestamp& known = node_.core.timestamp();
  bool everything = false;
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    bool own = entry.node == node_.config.self.value;
    if (!own && entry.base > known[entry.node] && !mutant(Mutant::kIgnoreLogHole))
      everything = true;
    while (reader.next_record(record)) {
      bool fresh = !own && record.interval > known[entry.node];
      if (!fresh) mark(Mark::kAcquireSkipsKnownInterval);
      while (reader.next_range(range)) {
        if (fresh) node_.select_cached(invalid_, range);
      }
    }
  }
  if (!invalid_.empty()) mark(Mark::kAcquireDropsNoticed);
  if (everything) {
    mark(Mark::kAcquireDropsEverything);
    invalid_.clear();
    node_.select_cached(invalid_, {0, node_.config.blocks});
    return;
  }
  if (!mutant(Mutant::kKeepLease)) {
    BlockRange run = node_.leases.next_run(0, node_.config.blocks);
    if (run.count > 0) mark(Mark::kAcquireDropsLease);
    while (run.count > 0) {
      invalid_.push_back(run);
      run = node_.leases.next_run(run.end(), node_.config.blocks);
    }
  }
  join(invalid_);
}

Task<> Acquires::expire(Strand& s, NodeId origin, Bytes ranges) {
  co_await node_.enter(s);
  ++node_.activity;
  node_.predictor.acquired(false);
  node_.acquired.fetch_add(1);
  invalid_.clear();
  BlockRange range;
  while (wire::take(ranges, range)) {
    offers_.note_eager_writer(range, origin);
    node_.select_cached(invalid_, range);
  }
  join(invalid_);
  if (!invalid_.empty()) mark(Mark::kExpiryFindsCopies);
  Grant nothing;
  AcquirePoint at{.grant = nothing};
  for (const BlockRange& run : invalid_) {
    bool spared = mutant(Mutant::kExpirySparesBusy) && node_.entries[run.first].busy();
    if (!spared) co_await refreshes_.refresh_or_invalidate(s, run, at);
  }
  co_await node_.leave(s);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
