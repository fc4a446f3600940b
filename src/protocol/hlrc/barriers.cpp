#include "protocol/hlrc/barriers.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Barriers::Barriers(NodeState& node, Offers& offers, Pushes& pushes, Releases& releases,
                   Acquires& acquires)
    : node_(node), offers_(offers), pushes_(pushes), releases_(releases), acquires_(acquires) {
  const HlrcConfig& config = node.config;
  reach_each_other_ =
      config.in_memory_barriers && config.nodes > 1 && config.nodes <= CentralBarrier::kMostNodes;
  for (std::uint32_t n = 0; n < config.nodes; ++n)
    reach_each_other_ = reach_each_other_ && node.reaches(NodeId{n});
}

Task<bool> Barriers::barrier(Strand& s, BarrierId id, std::uint32_t threads_here,
                             Contribution contribution, std::vector<std::byte>* reduced) {
  std::vector<std::byte> unread;
  if (reduced == nullptr) reduced = &unread;
  bool quiet = threads_here == 1 && contribution.is_empty() && is_quiet(id);
  if (quiet && tries(id)) {
    mark(Mark::kBarrierQuiet);
    bool held =
        co_await hold_in_memory(s, id, in_memory_[id.value].learned, contribution, *reduced);
    if (held) co_return true;
  }
  Event come = BarrierEnter{id, threads_here, s.waiter(), contribution};
  auto role = static_cast<BarrierRole>(co_await s.call(come));
  *reduced = s.take_answer();
  if (role != BarrierRole::kLast) co_return role == BarrierRole::kLeft;
  std::uint64_t activity = co_await releases_.release(s);
  Event go = BarrierLeave{id};
  if (!quiet && may_hold_in_memory(id) && tries(id)) {
    bool held = co_await hold_in_memory_released(s, id, contribution, *reduced);
    Event told = BarrierLeave{id, *reduced};
    if (held) co_await s.tell(told);
    if (held && !mutant(Mutant::kArrivesTwice)) co_return true;
  }
  std::uint64_t acquired = node_.acquired.load();
  std::vector<std::uint64_t> with_arrival = pushes_.choose_for_arrival();
  Event arrive = BarrierArrive{id, s.waiter(), acquired != acquired_before_.load(), &with_arrival};
  std::uint64_t barrier_exit = co_await s.call(arrive);
  acquired_before_.store(acquired);
  Grant grant = barrier_exit & kCameWithArrival ? Grant::with_blocks(s.take_answer())
                                                : Grant::of_notices(s.take_answer());
  auto number = static_cast<std::uint32_t>(barrier_exit);
  co_await pushes_.send_pushes(s, number, with_arrival, (barrier_exit & kArrivalTaken) != 0,
                               grant.notices);
  co_await wait_for_exit(s, number - 1);
  co_await acquires_.apply(s, number, activity, grant);
  bool waited = barrier_exits_.exchange(number * 2, std::memory_order_acq_rel) & 1;
  node_.predictor.barrier_passed();
  if (waited) co_await s.wake(barrier_exits_);
  Event ask = BarrierResult{id, s.waiter()};
  if (contribution.op != ReduceOp::kNone) {
    co_await s.call(ask);
    *reduced = s.take_answer();
  }
  co_await s.tell(go);
  co_return (barrier_exit & kContributionsDiffer) == 0;
}

// Whether rounds of the barrier may be held in memory.
bool Barriers::may_hold_in_memory(BarrierId id) const {
  return reach_each_other_ && id.value < CentralBarrier::kPlaces;
}

// Whether this round is tried in memory. All threads of the node that ask in one round get the same
// answer.
bool Barriers::tries(BarrierId id) {
  std::optional<bool>& known = in_memory_[id.value].tries;
  bool answer = known ? *known : node_.predictor.tries_in_memory(id);
  known.reset();
  return answer;
}

// The other threads released when they arrived, and wait. If that was in memory, they have no
// notices. If it was by messages, their notices are applied here before they are distributed to all
// nodes.
Task<> Barriers::gather(Strand& s, BarrierId id, std::uint32_t threads_here) {
  Event here = BarrierGather{id, threads_here, false, s.waiter()};
  std::uint64_t learned = co_await s.call(here);
  if (may_hold_in_memory(id)) in_memory_[id.value].tries = node_.predictor.tries_in_memory(id);
  if (may_hold_in_memory(id) && *in_memory_[id.value].tries) {
    auto number = static_cast<std::uint32_t>(id.value);
    bool held = co_await s.perform(Gather{number, static_cast<std::uint32_t>(learned)});
    mark(held ? Mark::kGatherInMemory : Mark::kGatherNotInMemory);
    if (held && !mutant(Mutant::kGatherKeepsLeases)) co_await drop_leases(s);
    if (held) co_return;
  }
  Event all = BarrierGather{id, threads_here, true, s.waiter()};
  std::uint64_t barrier_exits = co_await s.call(all);
  mark(Mark::kGatherByMessages);
  std::vector<std::byte> notices = s.take_answer();
  co_await wait_for_exit(s, static_cast<std::uint32_t>(barrier_exits));
  co_await acquires_.apply_unnumbered(s, notices);
}

// Whether this node has nothing to do for a round that is tried in memory: its last round was held
// and found neither copies nor tracked blocks here, and nothing that a release looks for has been
// added since.
bool Barriers::is_quiet(BarrierId id) const {
  // What was accessed must be closed, although its copy may have gone.
  if (node_.config.check_accesses) return false;
  if (!may_hold_in_memory(id)) return false;
  const InMemory& round = in_memory_[id.value];
  if (!round.quiet) return false;
  bool same = round.changes == node_.core.changes() &&
              round.dirty_count == node_.dirty_count.load(std::memory_order_acquire) &&
              round.taken == node_.taken.load(std::memory_order_acquire);
  if (!same && !mutant(Mutant::kQuietForgetsChanges)) return false;
  return node_.copies() == 0 || mutant(Mutant::kQuietForgetsCopies);
}

// After this node's release: tries to hold the round in memory, without messages. That needs nodes
// without notices, without more leases than the predictor accepts, and without homes that may
// follow their writers.
Task<bool> Barriers::hold_in_memory_released(Strand& s, BarrierId id,
                                             const Contribution& contribution,
                                             std::vector<std::byte>& told) {
  InMemory& round = in_memory_[id.value];
  round.dirty_count = releases_.clean_count();
  round.taken = releases_.clean_taken();
  round.changes = node_.core.changes();
  bool broadcasts = node_.config.self.value == 0 && contribution.op == ReduceOp::kBroadcast &&
                    contribution.values.size() <= CentralBarrier::kMostTold;
  Event ask = BarrierTold{id, s.waiter(), broadcasts};
  std::uint64_t learned = co_await s.call(ask);
  if (offers_.others_wrote() || !may_hold_leases()) learned = 0;
  bool held = co_await hold_in_memory(s, id, learned, contribution, told);
  round.quiet =
      held && node_.copies() == 0 && node_.tracked.next_run(0, node_.config.blocks).count == 0;
  round.learned = learned;
  co_return held;
}

// Whether this node has no leases, or so few that the predictor accepts them.
bool Barriers::may_hold_leases() const {
  std::uint64_t blocks = 0;
  BlockRange run = node_.leases.next_run(0, node_.config.blocks);
  while (run.count > 0) {
    blocks += run.count;
    run = node_.leases.next_run(run.end(), node_.config.blocks);
  }
  return blocks == 0 || node_.predictor.holds_memory_barrier_with_leases(blocks);
}

// learned: 1 + the number of barrier exits that this node knows; 0: the round cannot be held.
Task<bool> Barriers::hold_in_memory(Strand& s, BarrierId id, std::uint64_t learned,
                                    const Contribution& contribution,
                                    std::vector<std::byte>& told) {
  ArriveInMemory step{.barrier = static_cast<std::uint32_t>(id.value)};
  if (learned != 0) step.told = static_cast<std::uint32_t>(learned - 1);
  told.clear();
  if (contribution.op == ReduceOp::kBroadcast) step.takes = &told;
  if (learned != 0) step.gives = contribution.values;
  bool held = co_await s.perform(step);
  node_.predictor.memory_barrier_ended(id, held);
  mark(held ? Mark::kBarrierHeldInMemory : Mark::kBarrierNotHeld);
  if (!held) co_return false;
  node_.predictor.barrier_passed();
  if (!mutant(Mutant::kInMemoryKeepsLeases)) co_await drop_leases(s);
  co_return true;
}

// After the other nodes have arrived in memory. A miss of another thread counts its copy before it
// reads bytes from before the round, so the count shows that copy.
Task<> Barriers::drop_leases(Strand& s) {
  bool copies = node_.cached_count.load(std::memory_order_seq_cst) != 0;
  if (!copies || !node_.has_leases()) co_return;
  mark(Mark::kBarrierDropsLeases);
  co_await acquires_.apply_unnumbered(s, {});
}

Task<> Barriers::last_barrier(Strand& s, BarrierId id) {
  Event come = BarrierEnter{id, 1, s.waiter()};
  co_await s.call(come);
  co_await releases_.release(s);
  // A node that adopts homes of this one asks it for them.
  Event adopted = AwaitAdoptions{s.waiter()};
  co_await s.call(adopted);
  Event arrive = BarrierArrive{id, s.waiter()};
  co_await s.call(arrive);
}

// Threads may leave different barriers at the same time. A notice set names only what earlier
// barrier exits have not distributed, so it is applied after theirs: when at least `number` exits
// have been applied here.
Task<> Barriers::wait_for_exit(Strand& s, std::uint32_t number) {
  co_await s.pause();
  std::uint32_t seen = barrier_exits_.load(std::memory_order_acquire);
  while (seen / 2 < number && !mutant(Mutant::kExitsUnordered)) {
    mark(Mark::kBarrierWaitsForExit);
    if (!(seen & 1) && !barrier_exits_.compare_exchange_strong(seen, seen | 1)) continue;
    co_await s.wait(barrier_exits_, seen | 1);
    seen = barrier_exits_.load(std::memory_order_acquire);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
