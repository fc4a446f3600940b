// Tries of a lock. The manager asks the last node of the queue whether the token rests there
// unused. If so, that node sends the token to the requester, which becomes the last of the queue;
// otherwise the manager answers that the lock is in use. The manager asks one question at a time.
// Requests that arrive meanwhile are held back; further tries find the lock in use, since a
// requester is about to get it.
#include <utility>

#include "protocol/core/lock_manager.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void LockManager::attempt(LockId id, WaiterId waiter, std::uint64_t activity) {
  Lock& lock = find(id);
  bool rests = lock.token && !lock.held;
  if (rests || holds(id, waiter)) return acquire(id, waiter, activity);
  if (lock.token || lock.requested) {
    mark(Mark::kLockTriedInUseHere);
    outbox_.resume_plain(waiter, static_cast<std::uint64_t>(Acquired::kBusy));
    return;
  }
  lock.waiters.push_back(waiter);
  lock.requested = lock.tried = true;
  lock.activity = activity;
  Asked asked{std::as_bytes(std::span(lock.wants)), std::as_bytes(std::span(log_.timestamp()))};
  NodeId to = agent(id, self_);
  if (to == self_) return queue_or_relay(id, self_, asked, true);
  put_request(wire::Kind::kLockTry, self_, id, asked);
  outbox_.send(to);
}

// At the manager.
void LockManager::queue_try(LockId id, NodeId requester, Asked asked) {
  Lock& lock = find(id);
  if (lock.asking.there()) return refuse(id, requester);
  if (lock.tail == self_) {
    bool rests = lock.token && !lock.held;
    return rests ? queue_behind_tail(id, requester, asked) : refuse(id, requester);
  }
  lock.asking.set(requester, asked, kUncounted);
  lock.asks_to_try = true;
  put_request(wire::Kind::kLockTryForward, requester, id, asked);
  outbox_.send(lock.tail);
}

void LockManager::refuse(LockId id, NodeId requester) {
  if (requester == self_) return refused(id, find(id));
  wire::put(outbox_.begin(), wire::LockBusy{.lock = id.value});
  outbox_.send(requester);
}

// At the requester. It sends a request if other threads of its node wait for the lock.
void LockManager::refused(LockId id, Lock& lock) {
  mark(Mark::kLockTriedInUse);
  lock.requested = lock.tried = false;
  WaiterId waiter = lock.waiters.front();
  lock.waiters.erase(lock.waiters.begin());
  outbox_.resume_plain(waiter, static_cast<std::uint64_t>(Acquired::kBusy));
  if (lock.waiters.empty() || mutant(Mutant::kTryForgetsWaiters)) return;
  mark(Mark::kLockRequestedAfterTry);
  request(id, lock, kUnsettled);
}

bool LockManager::received_try(NodeId from, Bytes message, bool is_forward) {
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
    queue_or_relay(id, requester, asked, true);
    return true;
  }
  if (!may_manage(id, from)) return false;
  auto at = locks_.find(id.value);
  if (at == locks_.end()) return false;
  const Lock& lock = at->second;
  if (lock.successor.there() || !(lock.token || lock.requested)) return false;
  bool rests = lock.token && !lock.held;
  if (rests) {
    mark(Mark::kLockTriedAtRest);
    forwarded(id, requester, asked);
  }
  wire::put(outbox_.begin(), wire::LockInserted{.kind = wire::Kind::kLockTried,
                                                .accepted = static_cast<std::uint8_t>(rests),
                                                .requester = requester.value,
                                                .lock = id.value});
  outbox_.send(from);
  return true;
}

bool LockManager::received_tried(NodeId from, Bytes message) {
  wire::LockInserted answer;
  if (!wire::take(message, answer) || !message.empty() || answer.accepted > 1) return false;
  auto at = locks_.find(answer.lock);
  if (at == locks_.end()) return false;
  Lock& lock = at->second;
  LockId id{answer.lock};
  NodeId requester{answer.requester};
  if (!lock.asking.there() || !lock.asks_to_try || lock.asking.node != requester ||
      lock.tail != from)
    return false;
  lock.asking = {};
  lock.asks_to_try = false;
  if (answer.accepted == 0) {
    refuse(id, requester);
  } else if (!mutant(Mutant::kTryKeepsTail)) {
    lock.before_tail = lock.tail;
    lock.tail = requester;
  }
  if (!lock.held_back.empty()) mark(Mark::kLockTryHoldsBack);
  if (mutant(Mutant::kTryForgetsHeldBack)) lock.held_back.clear();
  queue_held_back(id, lock);
  return true;
}

bool LockManager::received_busy(NodeId from, Bytes message) {
  wire::LockBusy busy;
  if (!wire::take(message, busy) || !message.empty()) return false;
  auto at = locks_.find(busy.lock);
  if (at == locks_.end() || !may_manage(LockId{busy.lock}, from) || !at->second.tried) return false;
  refused(LockId{busy.lock}, at->second);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
