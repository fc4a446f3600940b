#pragma once

#include <optional>
#include <unordered_map>

#include "protocol/core/interval_log.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A number that travels with a token, and the threads that sleep until it has reached their
// numbers, in the order of their arrival. Counters and flags use only the value. A semaphore's
// value is the number of units that were ever posted, and its tickets those that were ever asked
// for; a ticket is served when the value has reached it. The same holds for a condition, whose
// value is the number of tickets that were signalled.
struct Count {
  std::int64_t value = 0;
  std::int64_t tickets = 0;
  std::vector<wire::Sleeper> sleepers;
  VectorTimestamp known;  // what all sleepers' nodes know at least; undefined without sleepers
};

// A node's part in the locks of the job. A lock is a token. Its manager remembers the last node
// that asked and forwards the next request to it, so the nodes form a queue (TreadMarks, section
// 3.3), and a grant is one message from the holder to its successor. The threads of a node queue
// here. A node with a successor passes the token on when its turn ends: when the thread that holds
// the lock unlocks or, if the turn is extended, after some more of its threads or at a LockEndTurn.
// No node is overtaken by more than nodes - 1 turns. Within this bound, a requester that is nearer
// to the holder than the last node of the queue is put before that node.
//
// Each cluster has an agent for each lock, which takes the requests of the cluster's nodes
// (lock_agents.cpp). The manager is one of the agents: at first the node lock modulo nodes; then,
// for good, the agent of the cluster whose nodes use the lock first. So with one cluster it never
// moves.
class LockManager {
 public:
  struct Config {
    NodeId self;
    const Clusters& clusters;
    std::uint64_t blocks;  // of the shared space; each has block_bytes
    std::uint32_t block_bytes;
  };
  LockManager(const Config& config, const IntervalLog& log, Outbox& outbox)
      : self_(config.self),
        clusters_(config.clusters),
        nodes_(clusters_.nodes()),
        blocks_(config.blocks),
        block_bytes_(config.block_bytes),
        log_(log),
        outbox_(outbox) {}

  // activity: this node's (effects.h), for the requests that the call may send.
  void acquire(LockId lock, WaiterId waiter, std::uint64_t activity);
  void attempt(LockId lock, WaiterId waiter, std::uint64_t activity);
  void hand_off(const LockHandOff& event);
  // Ends an extended turn.
  void end_turn(LockId lock);
  void release(LockId lock, WaiterId waiter, std::uint64_t activity);
  // Sets the blocks that this node's requests for the token name, from the next request on. No
  // effect while a request is under way.
  void want(LockId lock, const std::vector<wire::WantedBlock>& blocks);
  // Whether the requests name any blocks.
  bool wants_blocks(LockId lock) const;
  // The count of a token that this waiter holds.
  Count& count(LockId lock, WaiterId waiter);
  bool holds(LockId lock, WaiterId waiter) const;
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message);

  // A lock of the program that is held here, and that another node or (kNoNode) another thread here
  // waits for.
  struct Wanted {
    LockId lock;
    std::uint64_t turn;  // how often the lock has been taken here
    WaiterId holder;
    NodeId by;
  };
  // Appends all such locks.
  void list_wanted(std::vector<Wanted>& out) const;
  // A lock of the program that this waiter holds, if any.
  std::optional<LockId> held_by(WaiterId waiter) const;
  // For checks across nodes. has_token: the token is here. manages: this node manages the lock,
  // which was used.
  bool has_token(LockId lock) const;
  bool manages(LockId lock) const;
  void check_invariants() const;

 private:
  using WantedBlocks = std::vector<wire::WantedBlock>;
  // What follows the head of a request; a view of the message.
  struct Asked {
    Bytes wants;
    Bytes timestamp;
  };
  static constexpr std::uint32_t kUncounted = ~0u;
  // A node that waits in line, and what it said in its request.
  struct InLine {
    NodeId node = kNoNode;
    VectorTimestamp timestamp;
    WantedBlocks wants;
    // How many turns of other nodes have begun since the node is in line; the turn under way
    // counts.
    std::uint32_t overtaken = kUncounted;

    bool tries = false;  // only in held_back of an agent: a LockTry
    bool there() const { return node != kNoNode; }
    void set(NodeId who, Asked asked, std::uint32_t overtaken_by);
    Asked asked() const;
  };
  struct Lock {
    bool token = false;  // the lock is at rest or held here
    bool held = false;
    bool requested = false;  // this node waits for the answer to a request, or a try
    bool tried = false;      // it was a try: the answer may be that the lock is in use
    // The token rests here, and the writes of its last holder have not been released. releases: so
    // many releases had begun here when that holder unlocked.
    bool unreleased = false;
    std::uint64_t releases = 0;
    // How often the token may rest here while a node waits for it; how often it has.
    std::uint32_t extends = 0;
    std::uint32_t extended = 0;
    WaiterId holder;         // kNobody: a release is made, after which the token leaves
    std::uint64_t turn = 0;  // how often the lock was taken here
    InLine successor;
    InLine then;               // the successor before another node was put before it
    NodeId manager = kNoNode;  // at an agent: kNoNode until it is known
    bool asked = false;        // at an agent: the first manager was asked who manages the lock
    // At the manager. tail: the last node in line; before_tail: the one before it; asking: the
    // requester of the question under way, whether it may come before the tail or, with
    // asks_to_try, whether the tail gives it the token; held_back: requests since then.
    NodeId tail = kNoNode;
    NodeId before_tail = kNoNode;
    InLine asking;
    bool asks_to_try = false;
    std::vector<InLine> held_back;
    WantedBlocks wants;             // named by this node's requests
    std::uint64_t activity = 0;     // this node's, when it sent its last request
    std::vector<WaiterId> waiters;  // of this node
    Count count;                    // valid while the token is here
  };

  bool received_request(NodeId from, Bytes message, bool forwarded);
  bool received_insert(NodeId from, Bytes message);
  bool received_inserted(NodeId from, Bytes message);
  bool received_try(NodeId from, Bytes message, bool forwarded);
  bool received_tried(NodeId from, Bytes message);
  bool received_busy(NodeId from, Bytes message);
  bool received_grant(NodeId from, Bytes message);
  Lock& find(LockId lock);
  static void take(Lock& lock, WaiterId waiter);
  static void take_next(Lock& lock);
  NodeId first_manager(LockId lock) const {
    return NodeId{static_cast<std::uint32_t>(lock.value % nodes_)};
  }
  NodeId agent(LockId lock, NodeId of) const;
  bool may_manage(LockId lock, NodeId node) const { return agent(lock, node) == node; }
  bool came_from(NodeId from, NodeId requester, LockId lock) const;
  bool is_unused(const Lock& lock) const;
  void take_given(Lock& lock);
  void tell_manager(LockId id, NodeId to, NodeId manager);
  bool received_manager_request(NodeId from, Bytes message);
  bool received_manager(NodeId from, Bytes message);
  void queue_or_relay(LockId id, NodeId requester, Asked asked, bool tries);
  void request(LockId id, Lock& lock, std::uint64_t activity);
  void queue(LockId id, NodeId requester, Asked asked);
  void queue_behind_tail(LockId id, NodeId requester, Asked asked);
  bool prefers(const Lock& lock, NodeId requester) const;
  bool insert(Lock& lock, NodeId before, NodeId requester, Asked asked) const;
  bool take_asked(Bytes& message, std::size_t wanted, Asked& asked) const;
  bool take_then(Bytes& message, const wire::LockGrant& grant, Asked& asked) const;
  void forwarded(LockId id, NodeId requester, Asked asked);
  void queue_held_back(LockId id, Lock& lock);
  void queue_try(LockId id, NodeId requester, Asked asked);
  void refuse(LockId id, NodeId requester);
  void refused(LockId id, Lock& lock);
  void put_request(wire::Kind kind, NodeId requester, LockId id, Asked asked,
                   NodeId before = NodeId{0});
  void extend_turn(LockId id, Lock& lock);
  void release_kept(LockId id, Lock& lock);
  void grant(LockId id, Lock& lock, NodeId to);
  void send_grant(const WantedBlocks& wants, NodeId to);
  bool take_count(Bytes& message, const wire::LockGrant& grant, Count& count) const;
  bool are_wanted(NodeId from, Bytes granted, const WantedBlocks& wants) const;
  void resume_granted(const Lock& lock, Bytes notices, Bytes granted);

  NodeId self_;
  const Clusters& clusters_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  std::uint32_t block_bytes_;
  const IntervalLog& log_;
  Outbox& outbox_;
  std::unordered_map<std::uint64_t, Lock> locks_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
