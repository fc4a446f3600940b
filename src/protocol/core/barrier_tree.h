#pragma once

#include <bit>
#include <optional>
#include <unordered_map>

#include "protocol/core/interval_log.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node's part in the job's barriers: its threads gather here, the last of them flushes and
// arrives for all; arrivals climb a tree of the nodes and carry each subtree's notices, the
// departure brings the merged set down to everyone. All barriers use one tree, so departures come
// to every node in the same order; they are numbered, and must be applied in that order.
//
// Two nodes arrive at each other, and both depart when they have, one message's way after the
// later one. If either was in several barriers at once, the order of the departures is not plain
// from that, and node 0 tells it as the root of a tree does. With its arrival a node may send
// blocks that the other renews; when they may be taken, both know (hlrc/barriers.h).
//
// With clusters each has a tree of its own. The heads of two clusters arrive at each other as two
// nodes do, each for its cluster; of more clusters, the heads arrive at node 0. So a round crosses
// the link to a cluster once in each direction.
//
// A thread of node 0, the root, may gather before it enters: it acquires what all others have
// released as they arrived, and goes on alone. So the barrier of a team is a join at its root and a
// fork when the root enters, for one arrival and one departure of each other node.
class BarrierTree {
 public:
  BarrierTree(NodeId self, const Clusters& clusters, std::uint32_t arity, std::uint32_t block_bytes,
              IntervalLog& log, Outbox& outbox);

  void enter(const BarrierEnter& event);
  void gather(const BarrierGather& event);
  void told(const BarrierTold& event);
  // Resumed with the departure's number, from 1.
  void arrive(const BarrierArrive& event);
  void result(BarrierId barrier, WaiterId waiter);
  void leave(BarrierId barrier, Bytes told);
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message, bool departing, std::uint64_t blocks);
  // After the departure's notices were applied and learned: everyone will know them, so the log may
  // forget them.
  void learned(Bytes notices);

  // What a thread that waits in a barrier waits for, where it is this thread's to tell; for
  // messages to people.
  struct Wait {
    std::uint32_t threads_here;   // that have come
    std::uint32_t threads;        // of this node
    std::vector<NodeId> missing;  // children in the tree, and the other head
  };
  std::optional<Wait> wait_of(BarrierId barrier, WaiterId waiter) const;

  void check_invariants() const;

 private:
  // What one of two nodes says as it arrives.
  struct Said {
    bool plain = false;     // it is in no other barrier, and its notices have no hole
    bool acquired = false;  // BarrierArrive::acquired
    std::uint32_t departures = 0;
  };
  struct Barrier {
    std::uint32_t threads = 0;   // of this node
    std::vector<WaiterId> here;  // threads that wait, all but the last
    bool arrived = false;        // the last one arrived for this node
    bool went_up = false;        // the subtree's arrival was sent: a departure may come
    bool acquired = false;       // BarrierArrive::acquired
    // What so_far becomes again if the round is not held in memory.
    std::optional<Reduction> set_aside;
    WaiterId leader;
    std::optional<BarrierGather> gather;  // a thread that waits for the others before it enters
    std::uint64_t children = 0;           // a bit for each child that arrived in this round
    std::vector<std::byte> merged;        // the notice set of the subtree so far
    VectorTimestamp covered;              // up to where it tells of each node
    Reduction so_far;                     // of the subtree, in this round; of two nodes, here
    Reduction there;                      // ... and of the other one
    Reduction result;                     // of the round that ended last
    Said said_here;
    Said said_there;
    std::vector<std::byte> there_notices;      // the other one's, until this one has told its own
    std::vector<std::byte> came_with_arrival;  // the other one's GrantedBlocks
  };
  // Of Barrier::children: the other one has arrived.
  static constexpr std::uint64_t kOtherArrived = std::uint64_t{1} << 63;

  static std::uint32_t arrived_children(const Barrier& barrier) {
    return static_cast<std::uint32_t>(std::popcount(barrier.children & ~kOtherArrived));
  }
  bool other_missing(const Barrier& barrier) const {
    return other_ != kNoNode && (barrier.children & kOtherArrived) == 0;
  }
  static void set_result(Barrier& barrier, const Reduction& result);
  void resume_gatherer(Barrier& barrier);
  static bool agree(const Barrier& barrier);
  void merge(Barrier& barrier, Bytes notices);
  void advance(BarrierId id, Barrier& barrier, const BarrierArrive* event);
  void depart_as_root(BarrierId id, Barrier& barrier, bool tells_other);
  void depart(BarrierId id, Barrier& barrier, Bytes notices, bool tells_other);
  void resume_leader(Barrier& barrier, Bytes notices);
  void write(wire::Kind kind, BarrierId id, const Reduction& reduction, Bytes notices,
             const Said& said);
  void tell_other(BarrierId id, Barrier& barrier, const BarrierArrive* event);
  void tell_departure(NodeId to, BarrierId id, const Barrier& barrier, Bytes notices);
  bool received_departure(NodeId from, const wire::BarrierMessage& head,
                          const Contribution& reduced, Bytes notices);
  bool received_other(const wire::BarrierMessage& head, const Contribution& reduced, Bytes notices,
                      Bytes with_arrival);
  std::uint64_t child_bit(NodeId node) const;
  bool came_with_arrival_whole(Bytes blocks) const;

  NodeId self_;
  std::uint32_t nodes_;
  std::vector<NodeId> children_;
  NodeId parent_;
  NodeId other_ = kNoNode;  // of two nodes, or of two clusters' heads
  std::uint32_t block_bytes_;
  std::uint32_t inside_ = 0;  // barriers that the other was told of, and not departed from yet
  IntervalLog& log_;
  Outbox& outbox_;
  VectorTimestamp distributed_;   // what the departures applied here have told everyone
  std::uint32_t departures_ = 0;  // that came here
  std::uint32_t learned_ = 0;     // of these, those whose notices were applied here
  std::vector<std::byte> scratch_;
  std::unordered_map<std::uint32_t, Barrier> barriers_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
