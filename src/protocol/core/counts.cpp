#include "protocol/core/counts.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// The sum wraps around.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Performs the operation on the count; returns its result.
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
      mark(Mark::kCountArrives);
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
    const VectorTimestamp& knows = log_.timestamp();
    if (count.sleepers.empty() || mutant(Mutant::kSleepersKnowAsMuch)) count.known = knows;
    for (std::size_t n = 0; n < knows.size(); ++n)
      count.known[n] = std::min(count.known[n], knows[n]);
    count.sleepers.push_back({.node = self_.value, .waiter = waiter.value, .until = until});
    sleepers_[waiter.value] = {.count = id};
  }
  outbox_.resume_plain(waiter, reached);
}

void Counts::wake_reached(Count& count) {
  std::erase_if(count.sleepers, [&](const wire::Sleeper& sleeper) {
    if (count.value < sleeper.until) return false;
    if (NodeId{sleeper.node} == self_) {
      mark(Mark::kCountWakesHere);
      wake(WaiterId{sleeper.waiter}, Woken::kHere, {});
    } else {
      mark(Mark::kCountWakesElsewhere);
      auto& out = outbox_.begin();
      wire::put(out, wire::CountWake{.waiter = sleeper.waiter});
      log_.write_since(count.known, out);
      outbox_.send(NodeId{sleeper.node});
    }
    return true;
  });
}

// The wake may come before the sleeper has passed the token on and sleeps (State::kComing).
bool Counts::wake(WaiterId waiter, Woken by, Bytes notices) {
  auto at = sleepers_.find(waiter.value);
  if (at == sleepers_.end() || at->second.state == Sleep::State::kWoken) return false;
  if (at->second.state == Sleep::State::kAsleep) {
    sleepers_.erase(at);
    resume(waiter, by, notices);
  } else if (!mutant(Mutant::kEarlyWakeLost)) {
    mark(Mark::kCountWokenBeforeSleep);
    at->second.state = Sleep::State::kWoken;
    at->second.by = by;
    at->second.notices.assign(notices.begin(), notices.end());
  }
  return true;
}

void Counts::resume(WaiterId waiter, Woken by, Bytes notices) {
  put_bytes(outbox_.begin(), notices);
  outbox_.resume(waiter, static_cast<std::uint64_t>(by));
}

void Counts::sleep(WaiterId waiter) {
  auto at = sleepers_.find(waiter.value);
  TERRANE_CHECK(at != sleepers_.end(), "who sleeps waits for a count");
  if (at->second.state == Sleep::State::kWoken) {
    Sleep woken = std::move(at->second);
    sleepers_.erase(at);
    resume(waiter, woken.by, woken.notices);
  } else {
    at->second.state = Sleep::State::kAsleep;
  }
}

// A wake that comes after this is kept for the next CountSleep of the sleeper.
void Counts::expire(WaiterId waiter) {
  auto at = sleepers_.find(waiter.value);
  if (at == sleepers_.end() || at->second.state != Sleep::State::kAsleep) return;
  mark(Mark::kCountExpires);
  at->second.state = Sleep::State::kComing;
  outbox_.resume_plain(waiter, static_cast<std::uint64_t>(Woken::kExpired));
}

// A sleeper whose ticket is not reached still sleeps, and so do all with later tickets. Their
// tickets become smaller by the number that is given up.
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
  if (!wire::take(message, wake_up) || !log_.believable(message, self_, blocks_)) return false;
  auto at = sleepers_.find(wake_up.waiter);
  if (at == sleepers_.end()) return false;
  WaiterId waiter{wake_up.waiter};
  if (locks_.wants_blocks(at->second.count)) return wake(waiter, Woken::kTokenHasMore, {});
  return wake(waiter, Woken::kElsewhere, message);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
