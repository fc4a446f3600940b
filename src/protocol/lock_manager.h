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
  // blocks: of the space, of block_bytes each.
  LockManager(NodeId self, std::uint32_t nodes, std::uint64_t blocks, std::uint32_t block_bytes,
              const IntervalLog& log, Outbox& outbox)
      : self_(self),
        nodes_(nodes),
        blocks_(blocks),
        block_bytes_(block_bytes),
        log_(log),
        outbox_(outbox) {}

  // activity: of this node (effects.h), for the requests that these may send.
  void acquire(LockId lock, WaiterId waiter, std::uint64_t activity);
  void hand_off(LockId lock, WaiterId waiter);
  void release(LockId lock, WaiterId waiter, std::uint64_t activity);
  // What the requests for a token that is here name, from the next one on.
  void want(LockId lock, const std::vector<wire::WantedBlock>& blocks);
  // Of a token that this waiter holds.
  Count& count(LockId lock, WaiterId waiter);
  bool holds(LockId lock, WaiterId waiter) const;
  // From the network; false: malformed.
  bool received_request(NodeId from, Bytes message, bool forwarded);
  bool received_grant(NodeId from, Bytes message);

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
  using WantedBlocks = std::vector<wire::WantedBlock>;
  struct Lock {
    bool token = false;  // the lock rests or is held here
    bool held = false;
    bool requested = false;  // the token is on its way to us
    WaiterId holder;
    std::uint64_t turn = 0;  // how often it was taken here
    NodeId successor = kNoNode;
    NodeId tail = kNoNode;  // at the manager: the last node that asked
    VectorTimestamp successor_timestamp;
    WantedBlocks successor_wants;
    WantedBlocks wants;             // our own requests
    std::uint64_t activity = 0;     // ... when the latest was sent
    std::vector<WaiterId> waiters;  // of this node: few
    Count count;                    // while the token is here
  };

  Lock& find(LockId lock);
  static void take(Lock& lock, WaiterId waiter);
  static void take_next(Lock& lock);
  NodeId manager(LockId lock) const {
    return NodeId{static_cast<std::uint32_t>(lock.value % nodes_)};
  }
  // What a request says behind its head; where it is in the message.
  struct Asked {
    Bytes wants;
    Bytes timestamp;
  };
  void request(LockId id, Lock& lock, std::uint64_t activity);
  void queue_behind_tail(LockId id, NodeId requester, Asked asked);
  void forwarded(LockId id, NodeId requester, Asked asked);
  void put_request(wire::Kind kind, NodeId requester, LockId id, Asked asked);
  bool take_wants(Bytes& message, std::size_t count, Asked& asked) const;
  void grant(LockId id, Lock& lock, NodeId to);
  void send_grant(const Lock& lock, NodeId to);
  bool take_count(Bytes& message, const wire::LockGrant& grant, Count& count) const;
  bool are_wanted(NodeId from, Bytes granted, const WantedBlocks& wants) const;
  void resume_granted(const Lock& lock, Bytes notices, Bytes granted);

  NodeId self_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  std::uint32_t block_bytes_;
  const IntervalLog& log_;
  Outbox& outbox_;
  std::unordered_map<std::uint64_t, Lock> locks_;
  VectorTimestamp scratch_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
