// Preference for nodes near the holder. The manager asks the node before the last one of the queue
// whether a requester that is nearer to it may come before that last one. It may, if the asked node
// holds the lock and the last one has not been overtaken too often; else it goes behind the last
// one. A requester that is put before the last one leaves it the last, so a later request is queued
// as ever.
#include <utility>

#include "protocol/core/lock_manager.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At the manager. One question at a time: later requests are held back, in order.
void LockManager::queue(LockId id, NodeId requester, Asked asked) {
  Lock& lock = find(id);
  if (lock.asking.there()) {
    mark(Mark::kLockHeldBack);
    lock.held_back.emplace_back().set(requester, asked, kUncounted);
    return;
  }
  if (!prefers(lock, requester)) return queue_behind_tail(id, requester, asked);
  if (lock.before_tail != self_) {
    lock.asking.set(requester, asked, kUncounted);
    put_request(wire::Kind::kLockInsert, requester, id, asked, lock.tail);
    outbox_.send(lock.before_tail);
    return;
  }
  if (insert(lock, lock.tail, requester, asked)) {
    lock.before_tail = requester;
  } else {
    queue_behind_tail(id, requester, asked);
  }
}

bool LockManager::prefers(const Lock& lock, NodeId requester) const {
  NodeId before = lock.before_tail;
  if (nodes_ < 3 || before == kNoNode || before == requester) return false;
  Distance tail = clusters_.distance(before, lock.tail);
  if (clusters_.distance(before, requester) >= tail) return false;
  if (tail == Distance::kFar) mark(Mark::kLockPrefersCluster);
  return true;
}

// At the node before the last one. The last node waits for the turn under way, and for one more
// turn with each node that is put before it.
bool LockManager::insert(Lock& lock, NodeId before, NodeId requester, Asked asked) const {
  InLine& last = lock.successor;
  bool next = lock.held && last.node == before && !lock.then.there();
  bool bounded = last.overtaken < nodes_ - 1 || mutant(Mutant::kInsertUnbounded);
  if (!next || last.overtaken == kUncounted || !bounded) {
    mark(Mark::kLockInsertRefused);
    return false;
  }
  mark(Mark::kLockInserts);
  std::swap(lock.then, lock.successor);
  ++lock.then.overtaken;
  lock.successor.set(requester, asked, 1);
  return true;
}

bool LockManager::received_insert(NodeId from, Bytes message) {
  wire::LockRequest request;
  Asked asked;
  if (!wire::take(message, request) || request.requester >= nodes_ || request.before >= nodes_ ||
      !take_asked(message, request.wanted, asked) || !message.empty()) {
    return false;
  }
  LockId id{request.lock};
  NodeId requester{request.requester};
  if (requester == self_ || !may_manage(id, from)) return false;
  auto at = locks_.find(id.value);
  bool accepted =
      at != locks_.end() && insert(at->second, NodeId{request.before}, requester, asked);
  wire::put(outbox_.begin(), wire::LockInserted{.accepted = static_cast<std::uint8_t>(accepted),
                                                .requester = requester.value,
                                                .lock = id.value});
  outbox_.send(from);
  return true;
}

bool LockManager::received_inserted(NodeId from, Bytes message) {
  wire::LockInserted answer;
  if (!wire::take(message, answer) || !message.empty() || answer.accepted > 1) return false;
  auto at = locks_.find(answer.lock);
  if (at == locks_.end()) return false;
  Lock& lock = at->second;
  LockId id{answer.lock};
  if (!lock.asking.there() || lock.asks_to_try || lock.asking.node != NodeId{answer.requester} ||
      lock.before_tail != from)
    return false;
  InLine asking = std::exchange(lock.asking, {});
  if (answer.accepted != 0) {
    lock.before_tail = asking.node;
  } else {
    queue_behind_tail(id, asking.node, asking.asked());
  }
  queue_held_back(id, lock);
  return true;
}

// The tail of the queue sends no request.
void LockManager::queue_held_back(LockId id, Lock& lock) {
  std::vector<InLine> held_back = std::exchange(lock.held_back, {});
  for (const InLine& next : held_back)
    if (lock.asking.there() || lock.tail != next.node) queue(id, next.node, next.asked());
}

bool LockManager::take_then(Bytes& message, const wire::LockGrant& grant, Asked& asked) const {
  return grant.then <= nodes_ && grant.then != self_.value + 1 && grant.overtaken < nodes_ &&
         take_asked(message, grant.wanted, asked);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
