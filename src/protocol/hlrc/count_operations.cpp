#include "protocol/hlrc/count_operations.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<std::uint64_t> CountOperations::change_count(Strand& s, LockId count, CountOp op,
                                                  std::int64_t operand) {
  if (!mutant(Mutant::kChangeBeforeFlush)) co_await releases_.release(s);
  co_await locks_.lock(s, count);
  Event change = CountChange{count, op, operand, s.waiter()};
  std::uint64_t before = co_await s.call(change);
  co_await give_back(s, count);
  if (mutant(Mutant::kChangeBeforeFlush)) co_await releases_.release(s);
  co_return before;
}

Task<> CountOperations::await_count(Strand& s, LockId count, std::int64_t until) {
  co_await locks_.lock(s, count);
  Event await = CountAwait{count, until, s.waiter()};
  bool reached = co_await s.call(await) != 0;
  co_await give_back(s, count);
  if (reached) co_return;
  co_await sleep(s);
  co_await acquire_woken(s, count);
}

Task<bool> CountOperations::take_units(Strand& s, LockId count, Units units, Patience patience) {
  bool waits = patience != Patience::kTry;
  if (mutant(Mutant::kShareWithWriter) && units.room > 0) units.count = 1;
  if (units.room > 0) mark(Mark::kCountSharesRoom);
  co_await locks_.lock(s, count);
  Event take = CountChange{count, waits ? CountOp::kTicket : CountOp::kTicketIfFree, units.count,
                           s.waiter(), units.room};
  auto ticket = static_cast<std::int64_t>(co_await s.call(take));
  bool taken = ticket != 0;
  if (waits) {
    Event await = CountAwait{count, ticket - units.room, s.waiter()};
    taken = co_await s.call(await) != 0;
  }
  co_await give_back(s, count);
  if (taken || !waits) co_return taken;
  if (patience == Patience::kForEver) {
    co_await sleep(s);
  } else {
    bool woken = co_await sleep_or_give_up(s, count, units.count);
    if (!woken) co_return false;
  }
  co_await acquire_woken(s, count);
  co_return true;
}

Task<Arrival> CountOperations::arrive(Strand& s, LockId count) {
  co_await releases_.release(s);
  co_await locks_.lock(s, count);
  Event come = CountChange{count, CountOp::kArrive, 0, s.waiter()};
  auto until = static_cast<std::int64_t>(co_await s.call(come));
  Arrival arrival = Arrival::kNowhere;
  if (until != 0) {
    Event await = CountAwait{count, until, s.waiter()};
    bool last = co_await s.call(await) != 0;
    arrival = last ? Arrival::kLast : Arrival::kWaited;
  }
  co_await give_back(s, count);
  if (arrival != Arrival::kWaited) co_return arrival;
  co_await sleep(s);
  co_await acquire_woken(s, count);
  co_return arrival;
}

Task<LockResult> CountOperations::wait_condition(Strand& s, LockId condition, LockId lock_id,
                                                 Patience patience) {
  Event ask = LockHeld{lock_id, s.waiter()};
  if (co_await s.call(ask) == 0) co_return LockResult::kNotHeld;
  if (mutant(Mutant::kConditionUnlocksFirst)) co_await locks_.unlock(s, lock_id);
  co_await locks_.lock(s, condition);
  Event take = CountChange{condition, CountOp::kTicket, 1, s.waiter()};
  auto ticket = static_cast<std::int64_t>(co_await s.call(take));
  Event await = CountAwait{condition, ticket, s.waiter()};
  bool signalled = co_await s.call(await) != 0;
  co_await give_back(s, condition);
  if (!mutant(Mutant::kConditionUnlocksFirst)) co_await locks_.unlock(s, lock_id);
  if (!signalled && patience == Patience::kExpires) {
    signalled = co_await sleep_or_give_up(s, condition, 1);
  } else if (!signalled) {
    signalled = co_await sleep(s);
  }
  co_await locks_.lock(s, lock_id);
  co_return signalled ? LockResult::kOk : LockResult::kExpired;
}

Task<> CountOperations::signal_condition(Strand& s, LockId condition, bool all) {
  co_await locks_.lock(s, condition);
  Event signal =
      CountChange{condition, all ? CountOp::kSignalAll : CountOp::kSignal, 0, s.waiter()};
  co_await s.call(signal);
  co_await give_back(s, condition);
}

// A count's token, which is no release of ours: whoever changes a count has flushed before he took
// it, and nobody hands it on to a thread of his own node as a lock is (LockHandOff).
Task<> CountOperations::give_back(Strand& s, LockId count) {
  Event release_token = LockRelease{count, s.waiter(), node_.settled_activity()};
  co_await s.tell(release_token);
}

Task<bool> CountOperations::sleep(Strand& s) {
  Event wait = CountSleep{s.waiter()};
  co_await s.call(wait);
  co_return true;
}

// False: the host's time has come, and the tickets are given up.
Task<bool> CountOperations::sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets) {
  Event wait = CountSleep{s.waiter(), true};
  bool expired = co_await s.call(wait) != 0;
  if (!expired) co_return true;
  co_await locks_.lock(s, count);
  Event give_up = CountGiveUp{count, tickets, s.waiter()};
  bool given_up = co_await s.call(give_up) != 0;
  co_await give_back(s, count);
  if (!given_up) co_await sleep(s);
  co_return !given_up;
}

// What was written before the change that woke us comes with the token.
Task<> CountOperations::acquire_woken(Strand& s, LockId count) {
  if (mutant(Mutant::kWakeIsEnough)) co_return;
  co_await locks_.lock(s, count);
  co_await give_back(s, count);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
