#include "protocol/counts.h"

#include <algorithm>

#include "protocol/hlrc.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// The sum wraps around.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// The result of the operation.
std::int64_t perform(Count& count, const CountChange& change) {
  std::int64_t before = count.value;
  std::int64_t operand = change.operand;
  switch (change.op) {
    case CountOp::kAdd:
      count.value = sum(before, operand);
      break;
    case CountOp::kSet:
      count.value = operand;
      break;
    case CountOp::kAnd:
      count.value &= operand;
      break;
    case CountOp::kOr:
      count.value |= operand;
      break;
    case CountOp::kXor:
      count.value ^= operand;
      break;
    case CountOp::kMin:
      count.value = std::min(before, operand);
      break;
    case CountOp::kMax:
      count.value = std::max(before, operand);
      break;
    case CountOp::kTicketIfFree:
      if (sum(count.value, change.room) - count.tickets < operand) return 0;
      [[fallthrough]];
    case CountOp::kTicket:
      if (mutant(Mutant::kTicketTwice)) return count.tickets + operand;
      return count.tickets += operand;
    case CountOp::kSignal:
      count.value = std::min(before + 1, count.tickets);
      break;
    case CountOp::kSignalAll:
      count.value = count.tickets;
      break;
    case CountOp::kReset:
      count.value = operand;
      count.tickets = 0;
      break;
    case CountOp::kFree:
      return sum(before, operand) - count.tickets;
    case CountOp::kArrive: {
      if (count.tickets <= 0) return 0;
      mark(Mark::kCountMeets);
      ++count.value;
      std::int64_t from = mutant(Mutant::kArriveForNextRound) ? before + 1 : before;
      return (from / count.tickets + 1) * count.tickets;
    }
  }
  return before;
}

}  // namespace

void Counts::change(const CountChange& event) {
  Count& count = locks_.count(event.count, event.waiter);
  outbox_.resume_plain(event.waiter, static_cast<std::uint64_t>(perform(count, event)));
  wake_reached(count);
}

void Counts::await(LockId id, std::int64_t until, WaiterId waiter) {
  Count& count = locks_.count(id, waiter);
  bool reached = count.value >= until;
  if (reached) {
    mark(Mark::kCountReached);
  } else {
    count.sleepers.push_back({.node = self_.value, .waiter = waiter.value, .until = until});
    sleepers_[waiter.value] = Sleep::kComing;
  }
  outbox_.resume_plain(waiter, reached);
}

void Counts::wake_reached(Count& count) {
  std::erase_if(count.sleepers, [&](const wire::Sleeper& sleeper) {
    if (count.value < sleeper.until) return false;
    if (NodeId{sleeper.node} == self_) {
      mark(Mark::kCountWakesHere);
      wake(WaiterId{sleeper.waiter});
    } else {
      mark(Mark::kCountWakesElsewhere);
      wire::put(outbox_.begin(), wire::CountWake{.waiter = sleeper.waiter});
      outbox_.send(NodeId{sleeper.node});
    }
    return true;
  });
}

// The wake may come before the sleeper has given the token back and sleeps.
bool Counts::wake(WaiterId waiter) {
  auto at = sleepers_.find(waiter.value);
  if (at == sleepers_.end() || at->second == Sleep::kWoken) return false;
  if (at->second == Sleep::kAsleep) {
    sleepers_.erase(at);
    outbox_.resume_plain(waiter, 0);
  } else if (!mutant(Mutant::kEarlyWakeLost)) {
    mark(Mark::kCountWokenBeforeSleep);
    at->second = Sleep::kWoken;
  }
  return true;
}

void Counts::sleep(WaiterId waiter) {
  auto at = sleepers_.find(waiter.value);
  TERRANE_CHECK(at != sleepers_.end(), "who sleeps waits for a count");
  if (at->second == Sleep::kWoken) {
    sleepers_.erase(at);
    outbox_.resume_plain(waiter, 0);
  } else {
    at->second = Sleep::kAsleep;
  }
}

// A wake that comes from now on is found by the sleeper's CountSleep.
void Counts::expire(WaiterId waiter) {
  auto at = sleepers_.find(waiter.value);
  if (at == sleepers_.end() || at->second != Sleep::kAsleep) return;
  mark(Mark::kCountExpires);
  at->second = Sleep::kComing;
  outbox_.resume_plain(waiter, 1);
}

// Whose ticket is not reached sleeps, and so does everybody behind: the tickets behind become
// smaller by those that are given up.
void Counts::give_up(const CountGiveUp& event) {
  Count& count = locks_.count(event.count, event.waiter);
  auto at =
      std::find_if(count.sleepers.begin(), count.sleepers.end(), [&](const wire::Sleeper& sleeper) {
        return NodeId{sleeper.node} == self_ && sleeper.waiter == event.waiter.value;
      });
  bool found = at != count.sleepers.end();
  if (!found) mark(Mark::kCountWokenBeforeGivenUp);
  if (found || mutant(Mutant::kGiveUpDespiteWake)) sleepers_.erase(event.waiter.value);
  outbox_.resume_plain(event.waiter, found || mutant(Mutant::kGiveUpDespiteWake));
  if (!found) return;
  mark(Mark::kCountGivenUp);
  std::int64_t until = at->until;
  count.sleepers.erase(at);
  if (mutant(Mutant::kGiveUpKeepsTicket)) return;
  count.tickets -= event.tickets;
  std::size_t before = count.sleepers.size();
  for (wire::Sleeper& sleeper : count.sleepers)
    if (sleeper.until > until && !mutant(Mutant::kGiveUpKeepsOrder)) sleeper.until -= event.tickets;
  wake_reached(count);
  if (count.sleepers.size() < before) mark(Mark::kCountGivenUpWakes);
}

bool Counts::received(Bytes message) {
  wire::CountWake wake_up;
  return wire::take(message, wake_up) && message.empty() && wake(WaiterId{wake_up.waiter});
}

Task<std::uint64_t> Hlrc::change_count(Strand& s, LockId count, CountOp op, std::int64_t operand) {
  if (!mutant(Mutant::kChangeBeforeFlush)) co_await release(s);
  co_await lock(s, count);
  Event change = CountChange{count, op, operand, s.waiter()};
  std::uint64_t before = co_await s.call(change);
  co_await give_back(s, count);
  if (mutant(Mutant::kChangeBeforeFlush)) co_await release(s);
  co_return before;
}

Task<bool> Hlrc::await_count(Strand& s, LockId count, std::int64_t until) {
  co_await lock(s, count);
  Event await = CountAwait{count, until, s.waiter()};
  bool reached = co_await s.call(await) != 0;
  co_await give_back(s, count);
  if (reached) co_return true;
  co_await sleep(s);
  co_await acquire_woken(s, count);
  co_return true;
}

Task<bool> Hlrc::take_units(Strand& s, LockId count, Units units, Patience patience) {
  bool waits = patience != Patience::kTry;
  if (mutant(Mutant::kShareWithWriter) && units.room > 0) units.count = 1;
  if (units.room > 0) mark(Mark::kCountSharesRoom);
  co_await lock(s, count);
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

Task<Arrival> Hlrc::arrive(Strand& s, LockId count) {
  co_await release(s);
  co_await lock(s, count);
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

// The ticket comes first: whoever signals after he took the lock finds it.
Task<LockResult> Hlrc::wait_condition(Strand& s, LockId condition, LockId lock_id,
                                      Patience patience) {
  Event ask = LockHeld{lock_id, s.waiter()};
  if (co_await s.call(ask) == 0) co_return LockResult::kNotHeld;
  if (mutant(Mutant::kConditionUnlocksFirst)) co_await unlock(s, lock_id);
  co_await lock(s, condition);
  Event take = CountChange{condition, CountOp::kTicket, 1, s.waiter()};
  auto ticket = static_cast<std::int64_t>(co_await s.call(take));
  Event await = CountAwait{condition, ticket, s.waiter()};
  bool signalled = co_await s.call(await) != 0;
  co_await give_back(s, condition);
  if (!mutant(Mutant::kConditionUnlocksFirst)) co_await unlock(s, lock_id);
  if (!signalled && patience == Patience::kExpires) {
    signalled = co_await sleep_or_give_up(s, condition, 1);
  } else if (!signalled) {
    signalled = co_await sleep(s);
  }
  co_await lock(s, lock_id);
  co_return signalled ? LockResult::kOk : LockResult::kExpired;
}

// What a waiter may find changed was changed under his lock, which brings it to him.
Task<bool> Hlrc::signal_condition(Strand& s, LockId condition, bool all) {
  co_await lock(s, condition);
  Event signal =
      CountChange{condition, all ? CountOp::kSignalAll : CountOp::kSignal, 0, s.waiter()};
  co_await s.call(signal);
  co_return co_await give_back(s, condition);
}

// A count's token, which is no release of ours: whoever changes a count has flushed before he took
// it, and nobody hands it on to a thread of his own node as a lock is (LockHandOff).
Task<bool> Hlrc::give_back(Strand& s, LockId count) {
  Event release_token = LockRelease{count, s.waiter(), settled_activity()};
  co_await s.tell(release_token);
  co_return true;
}

Task<bool> Hlrc::sleep(Strand& s) {
  Event wait = CountSleep{s.waiter()};
  co_await s.call(wait);
  co_return true;
}

// False: the host's time has come, and the tickets are given up.
Task<bool> Hlrc::sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets) {
  Event wait = CountSleep{s.waiter(), true};
  bool expired = co_await s.call(wait) != 0;
  if (!expired) co_return true;
  co_await lock(s, count);
  Event give_up = CountGiveUp{count, tickets, s.waiter()};
  bool given_up = co_await s.call(give_up) != 0;
  co_await give_back(s, count);
  if (!given_up) co_await sleep(s);
  co_return !given_up;
}

// What was written before the change that woke us comes with the token.
Task<bool> Hlrc::acquire_woken(Strand& s, LockId count) {
  if (mutant(Mutant::kWakeIsEnough)) co_return true;
  co_await lock(s, count);
  co_return co_await give_back(s, count);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
