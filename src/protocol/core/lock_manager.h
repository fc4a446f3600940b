#pragma once

#include <optional>
#include <unordered_map>

#include "protocol/core/interval_log.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

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
  VectorTimestamp known;  // what the nodes of all sleepers know at least; of no meaning without any
};

// A node's part in the job's locks. A lock is a token; its manager remembers the last node that
// asked and forwards the next request to it, so requests form a queue through the nodes
// (TreadMarks, section 3.3) and a grant is one message from holder to successor. Threads of a node
// queue here. A node with a successor lets the token go when its turn ends: with the thread that
// holds the lock, or, if the turn is extended, after a few more of its threads' or a LockEndTurn.
// No node is overtaken by more than nodes - 1 turns. As far as that allows, a requester that is
// nearer to the holder than the last of the queue comes before that.
//
// Each cluster has an agent for each lock: requests go to the agent of the requester's cluster
// (lock_agents.cpp). The manager is one of them: first node lock modulo nodes, then for good the
// agent of the cluster whose nodes use the lock first. So with one cluster it never moves.
class LockManager {
 public:
  struct Config {
    NodeId self;
    const Clusters& clusters;
    std::uint64_t blocks;  // of the space, of block_bytes each
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

  // activity: of this node (effects.h), for the requests that these may send.
  void acquire(LockId lock, WaiterId waiter, std::uint64_t activity);
  void attempt(LockId lock, WaiterId waiter, std::uint64_t activity);
  void hand_off(const LockHandOff& event);
  // An extended turn is over.
  void end_turn(LockId lock);
  void release(LockId lock, WaiterId waiter, std::uint64_t activity);
  // What the requests for a token name, from the next one on; unless one is under way.
  void want(LockId lock, const std::vector<wire::WantedBlock>& blocks);
  // Whether it names any.
  bool wants_blocks(LockId lock) const;
  // Of a token that this waiter holds.
  Count& count(LockId lock, WaiterId waiter);
  bool holds(LockId lock, WaiterId waiter) const;
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message);

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
  // What a request says behind its head; where it is in the message.
  struct Asked {
    Bytes wants;
    Bytes timestamp;
  };
  static constexpr std::uint32_t kUncounted = ~0u;
  // A node that waits in line, and what it said when it asked.
  struct InLine {
    NodeId node = kNoNode;
    VectorTimestamp timestamp;
    WantedBlocks wants;
    // By others' turns since it has been in line; the one under way counts.
    std::uint32_t overtaken = kUncounted;

    bool tries = false;  // of those that an agent holds back
    bool there() const { return node != kNoNode; }
    void set(NodeId who, Asked asked, std::uint32_t overtaken_by);
    Asked asked() const;
  };
  struct Lock {
    bool token = false;  // the lock rests or is held here
    bool held = false;
    bool requested = false;  // the token is on its way to us ...
    bool tried = false;      // ... or we hear that the lock is in use
    // The token rests here, and the writes of its last holder have not been released: so many
    // releases had begun here when the holder gave it back.
    bool unreleased = false;
    std::uint64_t releases = 0;
    // So often the token may rest here while a node waits for it, and has done so.
    std::uint32_t extends = 0;
    std::uint32_t extended = 0;
    WaiterId holder;         // kNobody: a release is made, after which the token leaves
    std::uint64_t turn = 0;  // how often it was taken here
    InLine successor;
    InLine then;               // was the successor, until another was put before it
    NodeId manager = kNoNode;  // at an agent: as far as that is known
    bool asked = false;        // at an agent: the first manager was asked for it
    // At the manager: the last node in line, the one before it, the one that is just asked for to
    // be put between them, and who asked since.
    NodeId tail = kNoNode;
    NodeId before_tail = kNoNode;
    InLine asking;
    bool asks_to_try = false;  // ... of the tail, whether it can do without the token
    std::vector<InLine> held_back;
    WantedBlocks wants;             // our own requests
    std::uint64_t activity = 0;     // ... when the latest was sent
    std::vector<WaiterId> waiters;  // of this node: few
    Count count;                    // while the token is here
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
