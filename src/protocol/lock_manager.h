#pragma once

#include <optional>
#include <unordered_map>

#include "protocol/effects.h"
#include "protocol/interval_log.h"
#include "protocol/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A number that travels with a token, and who sleeps until it is large enough, first come first.
// Counters and flags use the value alone. A semaphore's value is the units that were ever posted,
// and its tickets those that were asked for: a ticket is good once the value has reached it. So is
// a condition's, whose value counts the tickets that were signalled.
struct Count {
  std::int64_t value = 0;
  std::int64_t tickets = 0;
  std::vector<wire::Sleeper> sleepers;
};

// A node's part in the job's locks. A lock is a token; its manager (lock modulo nodes) remembers
// the last node that asked and forwards the next request to it, so requests form a queue through
// the nodes (TreadMarks, section 3.3) and a grant is one message from holder to successor. Threads
// of a node queue here; a node with a successor lets the token go after at most one more of its own
// threads has held it: no node is overtaken more than nodes - 1 times.
class LockManager {
 public:
  LockManager(NodeId self, std::uint32_t nodes, const IntervalLog& log, Outbox& outbox)
      : self_(self), nodes_(nodes), log_(log), outbox_(outbox) {}

  void acquire(LockId lock, WaiterId waiter);
  void hand_off(LockId lock, WaiterId waiter);
  void release(LockId lock, WaiterId waiter);
  // Of a token that this waiter holds.
  Count& count(LockId lock, WaiterId waiter);
  bool holds(LockId lock, WaiterId waiter) const;
  // From the network; false: malformed.
  bool received_request(NodeId from, Bytes message, bool forwarded);
  bool received_grant(Bytes message, std::uint64_t blocks);

  // A program's lock that is held here, and wanted by a node, or (kNoNode) by another thread here.
  struct Wanted {
    LockId lock;
    std::uint64_t turn;  // how often it has been taken here
    WaiterId holder;
    NodeId by;
  };
  // Appends them.
  void list_wanted(std::vector<Wanted>& out) const;
  // A program's lock that this waiter holds, if any.
  std::optional<LockId> held_by(WaiterId waiter) const;
  // For checks across nodes: the token is here; this node manages a lock that was used.
  bool has_token(LockId lock) const;
  bool manages(LockId lock) const;
  void check_invariants() const;

 private:
  struct Lock {
    bool token = false;  // the lock rests or is held here
    bool held = false;
    bool requested = false;  // the token is on its way to us
    WaiterId holder;
    std::uint64_t turn = 0;  // how often it was taken here
    NodeId successor = kNoNode;
    NodeId tail = kNoNode;  // at the manager: the last node that asked
    VectorTimestamp successor_timestamp;
    std::vector<WaiterId> waiters;  // of this node: few
    Count count;                    // while the token is here
  };

  Lock& find(LockId lock);
  static void take(Lock& lock, WaiterId waiter);
  static void take_next(Lock& lock);
  NodeId manager(LockId lock) const {
    return NodeId{static_cast<std::uint32_t>(lock.value % nodes_)};
  }
  void request(LockId id, Lock& lock);
  void queue_behind_tail(LockId id, NodeId requester, Bytes timestamp);
  void forwarded(LockId id, NodeId requester, Bytes timestamp);
  void grant(LockId id, Lock& lock, NodeId to, const VectorTimestamp& since);
  bool take_count(Bytes& message, const wire::LockGrant& grant, Count& count) const;

  NodeId self_;
  std::uint32_t nodes_;
  const IntervalLog& log_;
  Outbox& outbox_;
  std::unordered_map<std::uint64_t, Lock> locks_;
  VectorTimestamp scratch_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
