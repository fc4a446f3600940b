#include "protocol/lock_manager.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr std::uint64_t kLastLock = 0xffffffffu;  // of the program's; counts follow

bool read_timestamp(Bytes bytes, std::uint32_t nodes, VectorTimestamp& out) {
  if (bytes.size() != nodes * sizeof(std::uint32_t)) return false;
  out.resize(nodes);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return true;
}

Bytes bytes_of(const VectorTimestamp& timestamp) { return std::as_bytes(std::span(timestamp)); }

}  // namespace

LockManager::Lock& LockManager::find(LockId id) {
  auto [at, fresh] = locks_.try_emplace(id.value);
  if (fresh && manager(id) == self_) {
    at->second.tail = self_;
    at->second.token = true;
  }
  return at->second;
}

void LockManager::take(Lock& lock, WaiterId waiter) {
  lock.held = true;
  lock.holder = waiter;
  ++lock.turn;
}

void LockManager::take_next(Lock& lock) {
  take(lock, lock.waiters.front());
  lock.waiters.erase(lock.waiters.begin());
}

void LockManager::acquire(LockId id, WaiterId waiter) {
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
    request(id, lock);
  }
}

void LockManager::request(LockId id, Lock& lock) {
  lock.requested = true;
  if (manager(id) == self_) {
    queue_behind_tail(id, self_, bytes_of(log_.timestamp()));
    return;
  }
  auto& out = outbox_.begin();
  wire::put(out, wire::LockRequest{.requester = self_.value, .lock = id.value});
  put_bytes(out, bytes_of(log_.timestamp()));
  outbox_.send(manager(id));
}

void LockManager::queue_behind_tail(LockId id, NodeId requester, Bytes timestamp) {
  Lock& lock = find(id);
  NodeId tail = lock.tail;
  lock.tail = requester;
  if (tail == self_) {
    mark(Mark::kLockManagerIsTail);
    forwarded(id, requester, timestamp);
    return;
  }
  auto& out = outbox_.begin();
  wire::put(out,
            wire::LockRequest{
                .kind = wire::Kind::kLockForward, .requester = requester.value, .lock = id.value});
  put_bytes(out, timestamp);
  outbox_.send(tail);
}

void LockManager::forwarded(LockId id, NodeId requester, Bytes timestamp) {
  Lock& lock = find(id);
  read_timestamp(timestamp, nodes_, lock.successor_timestamp);
  if (lock.token && (!lock.held || mutant(Mutant::kLockTwoHolders))) {
    mark(Mark::kLockGrantedFromRest);
    grant(id, lock, requester, lock.successor_timestamp);
  } else {
    mark(Mark::kLockForwardWaits);
    lock.successor = requester;
  }
}

void LockManager::grant(LockId id, Lock& lock, NodeId to, const VectorTimestamp& since) {
  lock.token = false;
  lock.successor = kNoNode;
  auto& out = outbox_.begin();
  Count& count = lock.count;
  if (mutant(Mutant::kGrantForgetsCount)) count.value = count.tickets = 0;
  if (mutant(Mutant::kGrantForgetsSleepers)) count.sleepers.clear();
  if (!count.sleepers.empty()) mark(Mark::kCountTravels);
  wire::put(out, wire::LockGrant{.sleepers = static_cast<std::uint32_t>(count.sleepers.size()),
                                 .lock = id.value,
                                 .value = count.value,
                                 .tickets = count.tickets});
  put_bytes(out, std::as_bytes(std::span(count.sleepers)));
  count.sleepers.clear();
  if (mutant(Mutant::kForgetOthersNotices)) {
    log_.write_entry(self_.value, since[self_.value], out);
  } else if (!mutant(Mutant::kGrantWithoutNotices)) {
    log_.write_since(since, out);
  }
  outbox_.send(to);
}

// Between two threads of a node no data has to move, so the release is left to the last of them. A
// successor elsewhere comes first.
void LockManager::hand_off(LockId id, WaiterId waiter) {
  if (!holds(id, waiter)) {
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(HandOff::kNotHeld));
    return;
  }
  Lock& lock = find(id);
  if (mutant(Mutant::kHandoffAcrossNodes) && lock.successor != kNoNode) {
    release(id, waiter);
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(HandOff::kHandedOver));
    return;
  }
  bool here = lock.successor == kNoNode && !lock.waiters.empty();
  if (here) {
    mark(Mark::kLockHandedLocally);
    release(id, waiter);
  }
  outbox_.resume_plain(waiter,
                       static_cast<std::uint64_t>(here ? HandOff::kHandedOver : HandOff::kRelease));
}

void LockManager::release(LockId id, [[maybe_unused]] WaiterId waiter) {
  Lock& lock = find(id);
  lock.held = false;
  if (lock.successor != kNoNode) {
    mark(Mark::kLockGrantedToSuccessor);
    grant(id, lock, lock.successor, lock.successor_timestamp);
    if (!lock.waiters.empty()) {
      mark(Mark::kLockRequestedAgain);
      request(id, lock);
    }
  } else if (!lock.waiters.empty()) {
    take_next(lock);
    outbox_.resume_plain(lock.holder, static_cast<std::uint64_t>(Acquired::kHere));
  }
}

// A request comes from the requester itself to the manager, and from there to the tail of the
// queue, which is still waiting for the lock or has it. Nobody asks who is the tail already.
bool LockManager::received_request(NodeId from, Bytes message, bool is_forward) {
  wire::LockRequest request;
  if (!wire::take(message, request) || request.requester >= nodes_ ||
      !read_timestamp(message, nodes_, scratch_)) {
    return false;
  }
  LockId id{request.lock};
  NodeId requester{request.requester};
  if (requester == self_ || from != (is_forward ? manager(id) : requester)) return false;
  if (!is_forward) {
    if (manager(id) != self_ || find(id).tail == requester) return false;
    queue_behind_tail(id, requester, message);
    return true;
  }
  auto at = locks_.find(id.value);
  if (at == locks_.end()) return false;
  const Lock& lock = at->second;
  if (lock.successor != kNoNode || !(lock.token || lock.requested)) return false;
  forwarded(id, requester, message);
  return true;
}

bool LockManager::received_grant(Bytes message, std::uint64_t blocks) {
  wire::LockGrant grant;
  if (!wire::take(message, grant)) return false;
  auto at = locks_.find(grant.lock);
  if (at == locks_.end() || !at->second.requested || at->second.waiters.empty()) return false;
  Lock& lock = at->second;
  if (!take_count(message, grant, lock.count) || !log_.believable(message, self_, blocks))
    return false;
  lock.token = true;
  lock.requested = false;
  take_next(lock);
  put_bytes(outbox_.begin(), message);
  outbox_.resume(lock.holder, static_cast<std::uint64_t>(Acquired::kRemote));
  return true;
}

bool LockManager::take_count(Bytes& message, const wire::LockGrant& grant, Count& count) const {
  std::size_t bytes = std::size_t{grant.sleepers} * sizeof(wire::Sleeper);
  if (message.size() < bytes) return false;
  count.value = grant.value;
  count.tickets = grant.tickets;
  count.sleepers.resize(grant.sleepers);
  if (bytes > 0) std::memcpy(count.sleepers.data(), message.data(), bytes);
  message = message.subspan(bytes);
  return std::all_of(count.sleepers.begin(), count.sleepers.end(),
                     [&](const wire::Sleeper& sleeper) { return sleeper.node < nodes_; });
}

Count& LockManager::count(LockId id, WaiterId waiter) {
  TERRANE_CHECK(holds(id, waiter), "a count belongs to who holds its token");
  return locks_.find(id.value)->second.count;
}

bool LockManager::holds(LockId id, WaiterId waiter) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && at->second.held && at->second.holder == waiter;
}

void LockManager::list_wanted(std::vector<Wanted>& out) const {
  for (const auto& [id, lock] : locks_) {
    bool wanted = lock.successor != kNoNode || !lock.waiters.empty();
    if (lock.held && wanted && id <= kLastLock)
      out.push_back({LockId{id}, lock.turn, lock.holder, lock.successor});
  }
}

std::optional<LockId> LockManager::held_by(WaiterId waiter) const {
  for (const auto& [id, lock] : locks_)
    if (lock.held && lock.holder == waiter && id <= kLastLock) return LockId{id};
  return std::nullopt;
}

bool LockManager::has_token(LockId id) const {
  auto at = locks_.find(id.value);
  return at != locks_.end() && at->second.token;
}

bool LockManager::manages(LockId id) const {
  return manager(id) == self_ && locks_.find(id.value) != locks_.end();
}

void LockManager::check_invariants() const {
  for (const auto& [id, lock] : locks_) {
    TERRANE_CHECK(!lock.held || lock.token, "who holds a lock has its token");
    TERRANE_CHECK(!(lock.token && lock.requested), "a token that is here is not asked for");
    TERRANE_CHECK(lock.waiters.empty() || lock.held || lock.requested,
                  "a waiter is waiting for something");
    TERRANE_CHECK(lock.successor == kNoNode || lock.held || lock.requested,
                  "a resting token is granted at once");
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
