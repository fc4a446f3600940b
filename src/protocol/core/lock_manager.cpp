#include "protocol/core/lock_manager.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "protocol/core/object_ids.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

Bytes bytes_of(const VectorTimestamp& timestamp) { return std::as_bytes(std::span(timestamp)); }

}  // namespace

void LockManager::InLine::set(NodeId who, Asked asked, std::uint32_t overtaken_by) {
  node = who;
  overtaken = overtaken_by;
  timestamp.resize(asked.timestamp.size() / sizeof(std::uint32_t));
  std::memcpy(timestamp.data(), asked.timestamp.data(), asked.timestamp.size());
  wants.resize(asked.wants.size() / sizeof(wire::WantedBlock));
  if (!wants.empty()) std::memcpy(wants.data(), asked.wants.data(), asked.wants.size());
}

LockManager::Asked LockManager::InLine::asked() const {
  return {std::as_bytes(std::span(wants)), bytes_of(timestamp)};
}

LockManager::Lock& LockManager::find(LockId id) {
  auto [at, fresh] = locks_.try_emplace(id.value);
  if (fresh && first_manager(id) == self_) {
    at->second.manager = self_;
    at->second.tail = self_;
    at->second.token = true;
  }
  return at->second;
}

void LockManager::take(Lock& lock, WaiterId waiter) {
  if (lock.unreleased && lock.successor.there()) mark(Mark::kLockTakenInTurn);
  lock.held = true;
  lock.unreleased = false;
  lock.holder = waiter;
  ++lock.turn;
}

void LockManager::take_next(Lock& lock) {
  take(lock, lock.waiters.front());
  lock.waiters.erase(lock.waiters.begin());
}

void LockManager::want(LockId id, const std::vector<wire::WantedBlock>& blocks) {
  Lock& lock = find(id);
  if (!lock.requested && !lock.tried) lock.wants = blocks;  // else a grant may have old ones
}

bool LockManager::wants_blocks(LockId id) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && !at->second.wants.empty();
}

void LockManager::acquire(LockId id, WaiterId waiter, std::uint64_t activity) {
  Lock& lock = find(id);
  if (lock.held && lock.holder == waiter) {
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(Acquired::kHeldAlready));
    return;
  }
  if (lock.token && !lock.held) {
    mark(Mark::kLockFreeHere);
    take(lock, waiter);
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(Acquired::kHere));
    return;
  }
  lock.waiters.push_back(waiter);
  if (lock.token || lock.requested) {
    mark(Mark::kLockQueuedHere);
  } else {
    mark(Mark::kLockRequested);
    request(id, lock, activity);
  }
}

void LockManager::request(LockId id, Lock& lock, std::uint64_t activity) {
  lock.requested = true;
  lock.activity = activity;
  if (!lock.wants.empty()) mark(Mark::kLockNamesBlocks);
  Asked asked{std::as_bytes(std::span(lock.wants)), bytes_of(log_.timestamp())};
  NodeId to = agent(id, self_);
  if (to == self_) return queue_or_relay(id, self_, asked, false);
  put_request(wire::Kind::kLockRequest, self_, id, asked);
  outbox_.send(to);
}

void LockManager::put_request(wire::Kind kind, NodeId requester, LockId id, Asked asked,
                              NodeId before) {
  auto& out = outbox_.begin();
  wire::LockRequest request{
      .kind = kind, .requester = requester.value, .lock = id.value, .before = before.value};
  request.wanted = static_cast<std::uint8_t>(asked.wants.size() / sizeof(wire::WantedBlock));
  wire::put(out, request);
  put_bytes(out, asked.wants);
  put_bytes(out, asked.timestamp);
}

void LockManager::queue_behind_tail(LockId id, NodeId requester, Asked asked) {
  Lock& lock = find(id);
  NodeId tail = lock.tail;
  lock.before_tail = tail;
  lock.tail = requester;
  if (tail == self_) {
    mark(Mark::kLockManagerIsTail);
    forwarded(id, requester, asked);
    return;
  }
  put_request(wire::Kind::kLockForward, requester, id, asked);
  outbox_.send(tail);
}

void LockManager::forwarded(LockId id, NodeId requester, Asked asked) {
  Lock& lock = find(id);
  lock.successor.set(requester, asked, lock.held ? 1 : kUncounted);
  if (lock.token && lock.unreleased && lock.extends > 0) {
    extend_turn(id, lock);
  } else if (lock.token && lock.unreleased && !mutant(Mutant::kGrantUnreleased)) {
    release_kept(id, lock);
  } else if (lock.token && (!lock.held || mutant(Mutant::kLockTwoHolders))) {
    mark(Mark::kLockGrantedFromRest);
    grant(id, lock, requester);
  } else {
    mark(Mark::kLockForwardWaits);
  }
}

// The token stays here at rest although it has a successor: threads here will soon take the lock
// again.
void LockManager::extend_turn(LockId id, Lock& lock) {
  mark(Mark::kLockTurnExtended);
  if (lock.extended++ == 0) outbox_.turn_extended(id);
}

void LockManager::end_turn(LockId id) {
  auto at = locks_.find(id.value);
  if (at == locks_.end()) return;
  Lock& lock = at->second;
  if (!lock.token || !lock.successor.there()) return;
  mark(Mark::kLockTurnEnded);
  lock.extended = ~0u;
  if (lock.held && !mutant(Mutant::kEndTurnWhileHeld)) return;
  if (mutant(Mutant::kEndTurnUnreleased)) return grant(id, lock, lock.successor.node);
  release_kept(id, lock);
}

// The host makes the release, and then unlocks as a holder does.
void LockManager::release_kept(LockId id, Lock& lock) {
  mark(Mark::kLockReleasedLate);
  lock.unreleased = false;
  lock.held = !mutant(Mutant::kKeptNotHeld);
  lock.holder = kNobody;
  outbox_.release_kept({id, lock.releases});
}

void LockManager::grant(LockId id, Lock& lock, NodeId to) {
  lock.token = false;
  lock.extended = 0;
  lock.successor.node = kNoNode;
  InLine& then = lock.then;
  if (mutant(Mutant::kGrantForgetsThen)) then.node = kNoNode;
  auto& out = outbox_.begin();
  std::size_t head = out.size();
  Count& count = lock.count;
  if (mutant(Mutant::kGrantForgetsCount)) count.value = count.tickets = 0;
  if (mutant(Mutant::kGrantForgetsSleepers)) count.sleepers.clear();
  if (!count.sleepers.empty()) mark(Mark::kCountTravels);
  wire::LockGrant message{.sleepers = static_cast<std::uint32_t>(count.sleepers.size()),
                          .lock = id.value,
                          .value = count.value,
                          .tickets = count.tickets};
  if (then.there()) {
    message.wanted = static_cast<std::uint8_t>(then.wants.size());
    message.then = then.node.value + 1;
    message.overtaken = then.overtaken;
  }
  wire::put(out, message);
  put_bytes(out, std::as_bytes(std::span(count.sleepers)));
  if (!count.sleepers.empty()) put_bytes(out, bytes_of(count.known));
  count.sleepers.clear();
  if (then.there()) {
    put_bytes(out, then.asked().wants);
    put_bytes(out, then.asked().timestamp);
    then.node = kNoNode;
  }
  const VectorTimestamp& since = lock.successor.timestamp;
  std::size_t notices = out.size();
  if (mutant(Mutant::kForgetOthersNotices)) {
    log_.write_entry(self_.value, since[self_.value], out);
  } else if (!mutant(Mutant::kGrantWithoutNotices)) {
    log_.write_since(since, out);
  }
  auto notice_bytes = static_cast<std::uint32_t>(out.size() - notices);
  std::memcpy(out.data() + head + offsetof(wire::LockGrant, notice_bytes), &notice_bytes,
              sizeof notice_bytes);
  send_grant(lock.successor.wants, to);
}

// Only the home of a wanted block certainly has its current bytes.
void LockManager::send_grant(const WantedBlocks& wants, NodeId to) {
  std::uint64_t here[wire::kMostWanted];
  std::size_t count = 0;
  for (const wire::WantedBlock& wanted : wants)
    if (NodeId{wanted.home} == self_ || mutant(Mutant::kGrantOthersBlocks))
      here[count++] = wanted.block;
  if (count == 0) return outbox_.send(to);
  mark(Mark::kGrantCarriesBlocks);
  outbox_.send_wanted(to, {here, count});
}

// Between two threads of a node no data have to move, so only the last of them makes the release. A
// successor on another node comes before threads here, unless the turn is extended. If no node asks
// for the lock, or the turn is extended, the release may wait until the token leaves.
void LockManager::hand_off(const LockHandOff& event) {
  auto [id, waiter, lazily, releases, extends] = event;
  if (!holds(id, waiter)) {
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(HandOff::kNotHeld));
    return;
  }
  Lock& lock = find(id);
  if (mutant(Mutant::kHandoffAcrossNodes) && lock.successor.there()) {
    release(id, waiter, kUnsettled);
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(HandOff::kHandedOver));
    return;
  }
  bool here = !lock.successor.there() && !lock.waiters.empty();
  if (here) {
    mark(Mark::kLockHandedLocally);
    release(id, waiter, kUnsettled);
  }
  HandOff answer = here ? HandOff::kHandedOver : HandOff::kRelease;
  bool extended = lock.successor.there() && lock.waiters.empty() && lock.extended < extends;
  if (lazily && !here && (extended || !lock.successor.there())) {
    mark(Mark::kLockKept);
    lock.held = false;
    lock.unreleased = true;
    lock.releases = releases;
    lock.extends = extends;
    if (extended) extend_turn(id, lock);
    answer = HandOff::kKept;
  }
  outbox_.resume_plain(waiter, static_cast<std::uint64_t>(answer));
}

void LockManager::release(LockId id, [[maybe_unused]] WaiterId waiter, std::uint64_t activity) {
  Lock& lock = find(id);
  lock.held = false;
  if (lock.successor.there()) {
    mark(Mark::kLockGrantedToSuccessor);
    grant(id, lock, lock.successor.node);
    if (!lock.waiters.empty()) {
      mark(Mark::kLockRequestedAgain);
      request(id, lock, activity);
    }
  } else if (!lock.waiters.empty()) {
    take_next(lock);
    outbox_.resume_plain(lock.holder, static_cast<std::uint64_t>(Acquired::kHere));
  }
}

bool LockManager::received(NodeId from, Bytes message) {
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kLockRequest:
      return received_request(from, message, false);
    case wire::Kind::kLockForward:
      return received_request(from, message, true);
    case wire::Kind::kLockInsert:
      return received_insert(from, message);
    case wire::Kind::kLockInserted:
      return received_inserted(from, message);
    case wire::Kind::kLockTry:
      return received_try(from, message, false);
    case wire::Kind::kLockTryForward:
      return received_try(from, message, true);
    case wire::Kind::kLockTried:
      return received_tried(from, message);
    case wire::Kind::kLockBusy:
      return received_busy(from, message);
    case wire::Kind::kLockManagerRequest:
      return received_manager_request(from, message);
    case wire::Kind::kLockManager:
      return received_manager(from, message);
    default:
      return received_grant(from, message);
  }
}

// A request goes from the requester, or its agent, to the manager, and from there to the tail of
// the queue, which waits for the lock or has it. No node that is the tail sends a request.
bool LockManager::received_request(NodeId from, Bytes message, bool is_forward) {
  wire::LockRequest request;
  Asked asked;
  if (!wire::take(message, request) || request.requester >= nodes_ ||
      !take_asked(message, request.wanted, asked) || !message.empty()) {
    return false;
  }
  LockId id{request.lock};
  NodeId requester{request.requester};
  if (requester == self_) return false;
  if (!is_forward) {
    if (!came_from(from, requester, id)) return false;
    const Lock& lock = find(id);
    bool again = lock.manager == self_ && !lock.asking.there() && lock.tail == requester;
    if (again || lock.held_back.size() > nodes_) return false;
    queue_or_relay(id, requester, asked, false);
    return true;
  }
  if (!may_manage(id, from)) return false;
  auto at = locks_.find(id.value);
  if (at == locks_.end()) return false;
  const Lock& lock = at->second;
  if (lock.successor.there() || !(lock.token || lock.requested)) return false;
  forwarded(id, requester, asked);
  return true;
}

bool LockManager::take_asked(Bytes& message, std::size_t wanted_blocks, Asked& asked) const {
  std::size_t bytes = wanted_blocks * sizeof(wire::WantedBlock);
  std::size_t stamp = nodes_ * sizeof(std::uint32_t);
  if (wanted_blocks > wire::kMostWanted || message.size() < bytes + stamp) return false;
  asked = {message.first(bytes), message.subspan(bytes, stamp)};
  message = message.subspan(bytes + stamp);
  Bytes rest = asked.wants;
  wire::WantedBlock wanted;
  while (wire::take(rest, wanted))
    if (wanted.block >= blocks_ || wanted.home >= nodes_) return false;
  return true;
}

bool LockManager::received_grant(NodeId from, Bytes message) {
  wire::LockGrant grant;
  if (!wire::take(message, grant)) return false;
  auto at = locks_.find(grant.lock);
  if (at == locks_.end() || !at->second.requested || at->second.waiters.empty()) return false;
  Lock& lock = at->second;
  Asked then;
  if (!take_count(message, grant, lock.count) ||
      (grant.then != 0 && (lock.successor.there() || !take_then(message, grant, then))) ||
      message.size() < grant.notice_bytes)
    return false;
  Bytes notices = message.first(grant.notice_bytes);
  Bytes granted = message.subspan(grant.notice_bytes);
  if (!log_.believable(notices, self_, blocks_) || !are_wanted(from, granted, lock.wants))
    return false;
  lock.token = true;
  lock.requested = lock.tried = false;
  if (grant.then != 0) lock.successor.set(NodeId{grant.then - 1}, then, grant.overtaken);
  take_next(lock);
  resume_granted(lock, notices, granted);
  return true;
}

// Whether the blocks that a grant carries are whole, and are blocks that this node asked this home
// for.
bool LockManager::are_wanted(NodeId from, Bytes granted, const WantedBlocks& wants) const {
  wire::GrantedBlock head;
  for (std::size_t count = 0; !granted.empty(); ++count) {
    if (count == wants.size() || !wire::take(granted, head) || NodeId{head.home} != from ||
        (head.bytes != 0 && head.bytes != block_bytes_) || granted.size() < head.bytes)
      return false;
    wire::WantedBlock wanted{.block = head.block, .home = head.home};
    if (std::find(wants.begin(), wants.end(), wanted) == wants.end()) return false;
    granted = granted.subspan(head.bytes);
  }
  return true;
}

void LockManager::resume_granted(const Lock& lock, Bytes notices, Bytes granted) {
  auto& out = outbox_.begin();
  Acquired how = granted.empty() ? Acquired::kRemote : Acquired::kWithBlocks;
  if (how == Acquired::kWithBlocks) wire::put(out, GrantHead{lock.activity, notices.size()});
  put_bytes(out, notices);
  put_bytes(out, granted);
  outbox_.resume(lock.holder, static_cast<std::uint64_t>(how));
}

bool LockManager::take_count(Bytes& message, const wire::LockGrant& grant, Count& count) const {
  std::size_t bytes = std::size_t{grant.sleepers} * sizeof(wire::Sleeper);
  std::size_t known = grant.sleepers > 0 ? nodes_ * sizeof(std::uint32_t) : 0;
  if (message.size() < bytes + known) return false;
  count.value = grant.value;
  count.tickets = grant.tickets;
  count.sleepers.resize(grant.sleepers);
  if (bytes > 0) std::memcpy(count.sleepers.data(), message.data(), bytes);
  message = message.subspan(bytes);
  count.known.resize(nodes_);
  if (known > 0) std::memcpy(count.known.data(), message.data(), known);
  message = message.subspan(known);
  return std::all_of(count.sleepers.begin(), count.sleepers.end(),
                     [&](const wire::Sleeper& sleeper) { return sleeper.node < nodes_; });
}

Count& LockManager::count(LockId id, WaiterId waiter) {
  TERRANE_CHECK(holds(id, waiter), "a count belongs to the holder of its token");
  return locks_.find(id.value)->second.count;
}

bool LockManager::holds(LockId id, WaiterId waiter) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && at->second.held && at->second.holder == waiter;
}

void LockManager::list_wanted(std::vector<Wanted>& out) const {
  for (const auto& [id, lock] : locks_) {
    bool wanted = lock.successor.there() || !lock.waiters.empty();
    if (lock.held && lock.holder != kNobody && wanted && is_lock(LockId{id}))
      out.push_back({LockId{id}, lock.turn, lock.holder, lock.successor.node});
  }
}

std::optional<LockId> LockManager::held_by(WaiterId waiter) const {
  for (const auto& [id, lock] : locks_)
    if (lock.held && lock.holder == waiter && is_lock(LockId{id})) return LockId{id};
  return std::nullopt;
}

bool LockManager::has_token(LockId id) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && at->second.token;
}

bool LockManager::manages(LockId id) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && at->second.manager == self_;
}

void LockManager::check_invariants() const {
  for (const auto& [id, lock] : locks_) {
    TERRANE_CHECK(!lock.held || lock.token, "the holder of a lock has its token");
    TERRANE_CHECK(!(lock.token && lock.requested), "a token that is here is not asked for");
    TERRANE_CHECK(!lock.unreleased || (lock.token && !lock.held),
                  "a token that is kept without a release rests");
    TERRANE_CHECK(!lock.tried || lock.requested, "a lock that was tried is asked for");
    TERRANE_CHECK(lock.waiters.empty() || lock.held || lock.requested,
                  "a waiter is waiting for something");
    TERRANE_CHECK(!lock.successor.there() || lock.held || lock.requested || lock.extended > 0,
                  "a resting token is granted at once, unless the turn is extended");
    TERRANE_CHECK(
        !lock.then.there() || ((lock.held || lock.extended > 0) && lock.successor.there()),
        "who was put before another is served next");
    TERRANE_CHECK(!lock.then.there() || lock.then.overtaken < nodes_,
                  "nobody is overtaken more than nodes - 1 times");
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
