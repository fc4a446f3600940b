#include "protocol/hlrc/count_operations.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<std::uint64_t> CountOperations::change_count(Strand& s, LockId count, CountOp op,
                                                  std::int64_t operand) {
  if (!mutant(Mutant::kChangeBeforeFlush)) co_await releases_.release(s);
  std::optional<Grant> learned = co_await locks_.take_count(s, count);
  Event change = CountChange{count, op, operand, s.waiter()};
  std::uint64_t before = co_await s.call(change);
  co_await pass_on(s, count, learned);
  if (mutant(Mutant::kChangeBeforeFlush)) co_await releases_.release(s);
  co_return before;
}

Task<> CountOperations::await_count(Strand& s, LockId count, std::int64_t until) {
  std::optional<Grant> learned = co_await locks_.take_count(s, count);
  Event await = CountAwait{count, until, s.waiter()};
  bool reached = co_await s.call(await) != 0;
  co_await pass_on(s, count, learned);
  if (!reached) co_await sleep(s, count);
}

Task<bool> CountOperations::take_units(Strand& s, LockId count, Units units, Patience patience) {
  bool waits = patience != Patience::kTry;
  if (mutant(Mutant::kShareWithWriter) && units.room > 0) units.count = 1;
  if (units.room > 0) mark(Mark::kCountSharesRoom);
  std::optional<Grant> learned = co_await locks_.take_count(s, count);
  Event take = CountChange{count, waits ? CountOp::kTicket : CountOp::kTicketIfFree, units.count,
                           s.waiter(), units.room};
  auto ticket = static_cast<std::int64_t>(co_await s.call(take));
  bool taken = ticket != 0;
  if (waits) {
    Event await = CountAwait{count, ticket - units.room, s.waiter()};
    taken = co_await s.call(await) != 0;
  }
  co_await pass_on(s, count, learned);
  if (taken || !waits) co_return taken;
  if (patience == Patience::kExpires) {
    bool woken = co_await sleep_or_give_up(s, count, units.count);
    co_return woken;
  }
  co_await sleep(s, count);
  co_return true;
}

Task<Arrival> CountOperations::arrive(Strand& s, LockId count) {
  co_await releases_.release(s);
  std::optional<Grant> learned = co_await locks_.take_count(s, count);
  Event come = CountChange{count, CountOp::kArrive, 0, s.waiter()};
  auto until = static_cast<std::int64_t>(co_await s.call(come));
  Arrival arrival = Arrival::kNowhere;
  if (until != 0) {
    Event await = CountAwait{count, until, s.waiter()};
    bool last = co_await s.call(await) != 0;
    arrival = last ? Arrival::kLast : Arrival::kWaited;
  }
  co_await pass_on(s, count, learned, true);
  bool ends_round = arrival == Arrival::kLast;
  if (arrival == Arrival::kWaited) ends_round = co_await sleep(s, count, true);
  if (ends_round) node_.predictor.barrier_passed();
  co_return arrival;
}

Task<LockResult> CountOperations::wait_condition(Strand& s, LockId condition, LockId lock_id,
                                                 Patience patience) {
  Event ask = LockHeld{lock_id, s.waiter()};
  if (co_await s.call(ask) == 0) co_return LockResult::kNotHeld;
  if (mutant(Mutant::kConditionUnlocksFirst)) co_await locks_.unlock(s, lock_id);
  std::optional<Grant> learned = co_await locks_.take_count(s, condition);
  Event take = CountChange{condition, CountOp::kTicket, 1, s.waiter()};
  auto ticket = static_cast<std::int64_t>(co_await s.call(take));
  Event await = CountAwait{condition, ticket, s.waiter()};
  bool signalled = co_await s.call(await) != 0;
  co_await pass_on(s, condition, learned);
  if (!mutant(Mutant::kConditionUnlocksFirst)) co_await locks_.unlock(s, lock_id);
  if (!signalled && patience == Patience::kExpires) {
    signalled = co_await sleep_or_give_up(s, condition, 1);
  } else if (!signalled) {
    co_await sleep(s, condition);
    signalled = true;
  }
  co_await locks_.lock(s, lock_id);
  co_return signalled ? LockResult::kOk : LockResult::kExpired;
}

Task<> CountOperations::signal_condition(Strand& s, LockId condition, bool all) {
  std::optional<Grant> learned = co_await locks_.take_count(s, condition);
  Event signal =
      CountChange{condition, all ? CountOp::kSignalAll : CountOp::kSignal, 0, s.waiter()};
  co_await s.call(signal);
  co_await pass_on(s, condition, learned);
}

// Passes on a count's token. That is no release: a thread that changes a count has flushed before
// it took the token, and a count's token is never handed to another thread of this node, as a
// lock's is (LockHandOff). What came with the token is applied only now, while the next node has
// it. So the threads of a rendezvous apply what they learned at the same time. A thread that found
// the token on this node waits until the thread that got it from another node has applied what came
// with it.
Task<> CountOperations::pass_on(Strand& s, LockId count, const std::optional<Grant>& learned,
                                bool at_rendezvous) {
  Event release_token = LockRelease{count, s.waiter(), node_.settled_activity()};
  co_await s.tell(release_token);
  if (learned) {
    co_await acquires_.apply_learned(s, *learned, count, at_rendezvous);
  } else {
    co_await await_others(s);
  }
}

// Waits until other threads of this node have applied what they learned.
Task<> CountOperations::await_others(Strand& s) {
  if (!mutant(Mutant::kCountTrustsUnapplied)) co_await acquires_.await_others(s);
}

// Waits until the count has reached the awaited value. Result: whether a thread of another node
// changed it.
Task<bool> CountOperations::sleep(Strand& s, LockId count, bool at_rendezvous) {
  Event wait = CountSleep{s.waiter()};
  auto woken = static_cast<Woken>(co_await s.call(wait));
  co_await acquire_woken(s, count, woken, at_rendezvous);
  co_return woken != Woken::kHere;
}

// False: the host's time has expired, and the tickets are given up.
Task<bool> CountOperations::sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets) {
  Event wait = CountSleep{s.waiter(), true};
  auto woken = static_cast<Woken>(co_await s.call(wait));
  if (woken != Woken::kExpired) {
    co_await acquire_woken(s, count, woken, false);
    co_return true;
  }
  std::optional<Grant> learned = co_await locks_.take_count(s, count);
  Event give_up = CountGiveUp{count, tickets, s.waiter()};
  bool given_up = co_await s.call(give_up) != 0;
  co_await pass_on(s, count, learned);
  if (!given_up) co_await sleep(s, count);
  co_return !given_up;
}

// The wake-up carries the notices of what was written before the change that woke this thread. If a
// thread of this node woke it, the notices are known here, or are being applied. If blocks are
// wanted as well, the count's token carries both.
Task<> CountOperations::acquire_woken(Strand& s, LockId count, Woken woken, bool at_rendezvous) {
  std::vector<std::byte> notices = s.take_answer();
  if (mutant(Mutant::kWakeIsEnough)) co_return;
  if (woken == Woken::kHere) {
    co_await await_others(s);
  } else if (woken == Woken::kElsewhere) {
    Grant grant = Grant::of_notices(std::move(notices));
    co_await acquires_.learn(s, grant);
    co_await acquires_.apply_learned(s, grant, count, at_rendezvous);
  } else {
    std::optional<Grant> learned = co_await locks_.take_count(s, count);
    co_await pass_on(s, count, learned, at_rendezvous);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
