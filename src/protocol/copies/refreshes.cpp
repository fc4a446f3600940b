#include "protocol/copies/refreshes.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// What the predictor may look up about copies that an acquire makes stale.
class StaleCopies final : public CopiesAtAcquire {
 public:
  using IsCopy = bool (*)(const BlockEntry&);
  StaleCopies(const NodeState& node, const SubscribedRuns& runs, std::uint32_t barrier_exit)
      : node_(node), runs_(runs), barrier_exit_(barrier_exit) {}

  bool is_copy(std::uint64_t block) const override { return is_copy(node_.entries[block]); }
  NodeId home(std::uint64_t block) const override { return node_.entries[block].home(); }
  bool is_reached(std::uint64_t block) const override { return node_.reaches(home(block)); }
  bool is_pushed(std::uint64_t block) const override {
    return barrier_exit_ != 0 && !is_reached(block) &&
           runs_.covers(home(block), {block, 1}, barrier_exit_);
  }
  static bool is_copy(const BlockEntry& entry) {
    BlockState state = entry.settled_state();
    bool copy = state == BlockState::kClean || state == BlockState::kWritten;
    return copy && entry.home() != kNoNode;
  }

 private:
  const NodeState& node_;
  const SubscribedRuns& runs_;
  std::uint32_t barrier_exit_;
};

}  // namespace

// Takes the probes of a run that was refreshed out of the view. They stay copies: a fault that
// finds one here shows that it is used, and costs no message. The comparison with the twins finds
// what the zapped entries knew of writes.
Task<> Refreshes::unmap_probes(Strand& s, BlockRange run) {
  bool looks = node_.scans() && !mutant(Mutant::kProbeForgetsWrites);
  for (BlockRange part{run.first, 0}; part.first < run.end(); part = {part.end() + 1, 0}) {
    while (part.end() < run.end() && node_.predictor.probes(part.end())) ++part.count;
    if (part.count == 0) continue;
    mark(Mark::kAcquireUnmapsProbe);
    co_await s.perform(Zap{part});
    for (std::uint64_t b = part.first; b < part.end() && looks; ++b)
      if (!node_.sealed.contains(b)) co_await flushes_.flush_changes(s, b, true, false);
  }
  co_await flushes_.await_flush(s);
}

Task<> Refreshes::refresh_or_invalidate(Strand& s, BlockRange run, AcquirePoint at) {
  BlockRange same_policy{run.first, 0};  // all of one propagation policy
  while (run.count > 0) {
    Propagation wants = node_.entries[run.first].propagation();
    if (same_policy.end() <= run.first) {
      same_policy = {run.first, 1};
      while (same_policy.end() < run.end() &&
             node_.entries[same_policy.end()].propagation() == wants)
        ++same_policy.count;
    }
    BlockRange part{run.first, same_policy.end() - run.first};
    AcquirePlan plan = plan_acquire(part, wants, at);
    part.count = plan.blocks;
    if (plan.refresh) {
      part = co_await hold_stale(s, part, at);
      part = co_await refresh(s, part, at);
    } else {
      co_await invalidation_.invalidate(s, part, false);
      node_.predictor.dropped(part, at.is_of_barrier());
    }
    run = {part.end(), run.end() - part.end()};
  }
}

// Plans what happens to the first blocks of the run, all of one propagation policy. Only copies
// whose home is known are refreshed.
AcquirePlan Refreshes::plan_acquire(BlockRange run, Propagation wants, AcquirePoint at) const {
  StaleCopies copies(node_, subscriptions_.runs(), at.number);
  AcquirePlan plan{.blocks = run.count, .refresh = wants == Propagation::kUpdate};
  if (wants == Propagation::kAdaptive && !at.at_fence)
    plan = node_.predictor.at_acquire(run, at.is_of_barrier(), copies);
  plan.blocks = std::clamp<std::uint64_t>(plan.blocks, 1, run.count);
  // A refresh could put another node's bytes over a change that no home has seen.
  if (node_.config.check_races) plan.refresh = false;
  if (!plan.refresh) return plan;
  std::uint64_t count = 0;
  bool copy = copies.is_copy(run.first);
  while (count < plan.blocks && copies.is_copy(run.first + count) == copy) ++count;
  return {.blocks = count, .refresh = copy};
}

// Locks the first blocks of the range that can be refreshed together: copies of one home, all or
// none of them in one push, and all or none of them with the grant. So a copy that is missing in
// between leads to no further subscription: a block of two subscriptions is sent twice.
Task<BlockRange> Refreshes::hold_stale(Strand& s, BlockRange within, AcquirePoint at) {
  BlockRange run{within.first, 0};
  NodeId home = node_.entries[run.first].home();
  Sent sent = subscriptions_.sent_with(run.first, home, at);
  std::uint64_t most = std::min(within.count, node_.most_of_run());
  bool pushes = at.number != 0 && !node_.reaches(home) && !subscriptions_.runs().empty();
  if (pushes) most = subscriptions_.runs().sent_together(home, {within.first, most}, at.number);
  while (run.count < most) {
    std::uint64_t block = run.end();
    if (node_.entries[block].home() != home) break;
    if (subscriptions_.sent_with(block, home, at) != sent) break;
    if (!mutant(Mutant::kRefreshUnlocked)) co_await node_.lock_block(s, block);
    ++run.count;
  }
  if (!pushes) co_return run;
  std::uint64_t whole = subscriptions_.runs().sent_together(home, run, at.number);
  co_await unlock_rest(s, run, whole);
  co_return BlockRange{run.first, whole};
}

// Unlocks all but the first `count` blocks of a run that was locked to be refreshed.
Task<> Refreshes::unlock_rest(Strand& s, BlockRange run, std::uint64_t count) {
  for (std::uint64_t b = run.first + count; b < run.end(); ++b)
    if (!mutant(Mutant::kRefreshUnlocked))
      co_await node_.unlock_block(s, b, node_.entries[b].state());
}

// As a fetch (fetches.h), but the copies stay in the view, and this node's threads go on reading
// and writing them. Result: the first blocks of the run, which were refreshed; the others are
// unchanged.
Task<BlockRange> Refreshes::refresh(Strand& s, BlockRange run, AcquirePoint at) {
  NodeId home = node_.entries[run.first].home();
  TERRANE_CHECK(home != kNoNode, "what is renewed is a copy");
  for (std::uint64_t b = run.first; b < run.end(); ++b) node_.leases.insert(b);
  Sent sent = subscriptions_.sent_with(run.first, home, at);
  Fetched got{.home = home};
  std::vector<std::uint32_t> versions;
  if (sent == Sent::kHere) got = co_await subscriptions_.take_granted(s, run, home, at, versions);
  if (sent == Sent::kNot) got = co_await subscriptions_.take_push(s, run, home, at, versions);
  if (at.number != 0 && !node_.reaches(home)) subscriptions_.runs().use(home, run);
  if (sent == Sent::kGone) co_await subscriptions_.give_up(s, home, run);
  if (at.number == 0 && !node_.reaches(home) && at.wanted != nullptr)
    note_wanted(*at.wanted, run, home);
  if (got.count == 0) {
    got = co_await fetch_stale(s, run, home, at);
    co_await unlock_rest(s, run, got.count);
    run.count = got.count;
    for (std::uint64_t b = run.first; b < run.end() && !got.own && got.home != home; ++b)
      node_.entries[b].set_home(got.home);
  }
  co_await merge(s, run, got.same);
  fetches_.settle_leases(run, got.tracked);
  if (got.own) {
    mark(Mark::kAcquireTakesHome);
    // The seals end: a home has none.
    for (std::uint64_t b = run.first; b < run.end(); ++b)
      if (node_.sealed.contains(b)) co_await s.perform(Zap{{b, 1}});
    co_await homes_.become_home(s, run, true);
    for (std::uint64_t b = run.first; b < run.end(); ++b)
      co_await node_.unlock_block(s, b, BlockState::kHome);
    co_return run;
  }
  bool adaptive = node_.is_adaptive(run.first);
  if (adaptive) node_.predictor.refreshed(run, at.is_of_barrier());
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (!node_.leases.contains(b)) mark(Mark::kAcquireRefreshesTracked);
    if (node_.entries[b].propagation() == Propagation::kUpdate) mark(Mark::kAcquireUpdates);
    if (!at.is_of_barrier()) mark(Mark::kLockRefreshes);
    if (mutant(Mutant::kRefreshTrusts)) node_.leases.erase(b);
    subscriptions_.note_version(versions, b, b - run.first, got);
    node_.recent.insert(b);
  }
  if (adaptive) co_await unmap_probes(s, run);
  co_await unlock_rest(s, run, 0);
  co_return run;
}

// The next request for this lock names the runs that its last acquire had to fetch. It names only
// whole runs, since the rest would have to be fetched anyway.
void Refreshes::note_wanted(std::vector<wire::WantedBlock>& wanted, BlockRange run, NodeId home) {
  for (std::uint64_t b = run.first; b < run.end() && wanted.size() <= wire::kMostWanted; ++b)
    wanted.push_back({.block = b, .home = home.value});
}

Task<Fetched> Refreshes::fetch_stale(Strand& s, BlockRange run, NodeId home, AcquirePoint at) {
  mark(node_.reaches(home) ? Mark::kAcquireRefreshes : Mark::kAcquireRefreshesByMessage);
  bool again = at.number != 0 && !subscriptions_.runs().covers(home, run, at.number + 1);
  if (again && node_.is_adaptive(run.first)) again = node_.predictor.subscribe_refreshed(run);
  Fetched got = co_await fetches_.fetch(s, run, home, true, again ? run.count : 0);
  if (got.subscribed != 0)
    subscriptions_.runs().note(got.home, {run.first, got.count},
                               static_cast<std::uint32_t>(got.subscribed - 1));
  co_return got;
}

// Moves staged bytes to this node's blocks. If threads here may have written since the last
// release, the twin shows which bytes other nodes wrote. The twin gets these bytes as well, so that
// they do not count as this node's.
Task<> Refreshes::merge(Strand& s, BlockRange run, std::uint64_t same) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (same >> (b - run.first) & 1) continue;
    bool twinned = node_.scans() || node_.entries[b].state() == BlockState::kWritten;
    if (node_.sealed.contains(b)) mark(Mark::kAcquireRefreshesSealed);
    if (node_.sealed.contains(b) && !mutant(Mutant::kMergesSealed)) twinned = false;
    if (twinned) mark(Mark::kAcquireRefreshesMerging);
    if (mutant(Mutant::kRefreshOverwrites)) twinned = false;
    bool unused = node_.is_adaptive(b) && node_.predictor.is_unused(b);
    co_await s.perform(
        Merge{.block = BlockId{b}, .slot = b - run.first, .merges = twinned, .unused = unused});
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
