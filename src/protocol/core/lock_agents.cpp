// The manager of a lock. The agent of a cluster for a lock takes the requests of the cluster's
// nodes, and asks the lock's first manager where to send them. If the lock has not been used, the
// first manager gives its token and its queue to the asking agent, which manages the lock from then
// on.
#include <algorithm>
#include <utility>

#include "protocol/core/lock_manager.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The agent of that node's cluster.
NodeId LockManager::agent(LockId lock, NodeId of) const {
  NodeId first = first_manager(lock);
  if (clusters_.together(first, of)) return first;
  auto members = clusters_.members(clusters_.of(of));
  return members[lock.value % members.size()];
}

// Whether a node that sends us a request is the requester itself, or the agent that relays it.
bool LockManager::came_from(NodeId from, NodeId requester, LockId lock) const {
  if (agent(lock, self_) != self_) return false;
  if (clusters_.together(requester, self_)) return from == requester;
  return from == agent(lock, requester);
}

bool LockManager::is_unused(const Lock& lock) const {
  return lock.token && !lock.held && lock.turn == 0 && lock.tail == self_ && !lock.asking.there();
}

// At an agent: a request of its cluster; at the manager: any request.
void LockManager::queue_or_relay(LockId id, NodeId requester, Asked asked, bool tries) {
  Lock& lock = find(id);
  if (requester == self_ && lock.token) return take_given(lock);
  if (lock.manager == self_)
    return tries ? queue_try(id, requester, asked) : queue(id, requester, asked);
  if (lock.manager != kNoNode) {
    mark(Mark::kLockRelayed);
    put_request(tries ? wire::Kind::kLockTry : wire::Kind::kLockRequest, requester, id, asked);
    return outbox_.send(lock.manager);
  }
  // The requests that are held back get the lock, or find it in use; so a try finds it in use.
  if (tries && !lock.held_back.empty()) return refuse(id, requester);
  lock.held_back.emplace_back().set(requester, asked, kUncounted);
  lock.held_back.back().tries = tries;
  if (std::exchange(lock.asked, true)) return;
  wire::put(outbox_.begin(), wire::LockManagerAt{.lock = id.value});
  outbox_.send(first_manager(id));
}

// The token has come together with the management of the lock, and this node is the first
// requester.
void LockManager::take_given(Lock& lock) {
  lock.requested = lock.tried = false;
  take_next(lock);
  outbox_.resume_plain(lock.holder, static_cast<std::uint64_t>(Acquired::kHere));
}

void LockManager::tell_manager(LockId id, NodeId to, NodeId manager) {
  wire::put(outbox_.begin(),
            wire::LockManagerAt{
                .kind = wire::Kind::kLockManager, .manager = manager.value, .lock = id.value});
  outbox_.send(to);
}

// At the first manager. Two agents may ask before either has an answer; the first one gets the
// lock.
bool LockManager::received_manager_request(NodeId from, Bytes message) {
  wire::LockManagerAt head;
  if (!wire::take(message, head) || !message.empty()) return false;
  LockId id{head.lock};
  if (first_manager(id) != self_ || from == self_ || !may_manage(id, from)) return false;
  Lock& lock = find(id);
  bool gives = is_unused(lock) || (mutant(Mutant::kLockGivenUsed) && lock.token && !lock.held);
  if (lock.manager == self_ && gives) {
    mark(Mark::kLockManagerMoves);
    if (!mutant(Mutant::kLockMovesTokenStays)) lock.token = false;
    lock.tail = kNoNode;
    lock.manager = from;
  }
  tell_manager(id, from, lock.manager);
  return true;
}

// At an agent.
bool LockManager::received_manager(NodeId from, Bytes message) {
  wire::LockManagerAt head;
  if (!wire::take(message, head) || !message.empty()) return false;
  LockId id{head.lock};
  NodeId manager{head.manager};
  auto at = locks_.find(head.lock);
  if (at == locks_.end() || from != first_manager(id) || head.manager >= nodes_ ||
      !may_manage(id, manager))
    return false;
  Lock& lock = at->second;
  if (!lock.asked || lock.manager != kNoNode) return false;
  lock.manager = manager;
  if (manager == self_) {
    lock.tail = self_;
    lock.token = true;
  }
  std::vector<InLine> held_back = std::exchange(lock.held_back, {});
  if (held_back.size() > 1) mark(Mark::kLockAgentHoldsBack);
  if (mutant(Mutant::kAgentForgetsOthers)) held_back.resize(1);
  for (const InLine& next : held_back) queue_or_relay(id, next.node, next.asked(), next.tries);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
