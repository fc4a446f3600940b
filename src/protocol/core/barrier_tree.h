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

// A node's part in the barriers of the job. Its threads gather here; the last of them flushes and
// arrives for the node. Arrivals go up a tree of the nodes with the notices of each subtree; the
// barrier exit carries the merged set down to all nodes. All barriers use one tree, so that their
// exits come to every node in the same order. Exits are numbered, and must be applied in this
// order.
//
// If there are two nodes, each sends its arrival to the other one. Both exit when they have sent
// and received an arrival, one message time after the later node arrived. If one of them was in
// several barriers at once, this does not define the order of the exits; then node 0 decides it as
// the root of a tree does. With its arrival a node may send blocks to which the other node
// subscribed; both know when these may be used (hlrc/barriers.h).
//
// With clusters each cluster has a tree of its own. The heads of two clusters send their arrivals
// to each other as two nodes do, each for its cluster. With more clusters the heads send them to
// node 0. So a round crosses the link to a cluster once in each direction.
//
// A thread of node 0, the root, may gather before it enters. It acquires what all others released
// when they arrived, and goes on alone. So the barrier of a team is a join at its root, and a fork
// when the root enters; each other node sends one arrival and receives one exit.
class BarrierTree {
 public:
  BarrierTree(NodeId self, const Clusters& clusters, std::uint32_t arity, std::uint32_t block_bytes,
              IntervalLog& log, Outbox& outbox);

  void enter(const BarrierEnter& event);
  void gather(const BarrierGather& event);
  void told(const BarrierTold& event);
  // The waiter is resumed with the number of the barrier exit, from 1.
  void arrive(const BarrierArrive& event);
  void result(BarrierId barrier, WaiterId waiter);
  void leave(BarrierId barrier, Bytes told);
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message, bool departing, std::uint64_t blocks);
  // After the notices of a barrier exit were applied and learned. All nodes will know them, so the
  // log may forget them.
  void learned(Bytes notices);

  // What a thread that waits in a barrier waits for; for messages to people. One waiting thread of
  // the node answers for all.
  struct Wait {
    std::uint32_t threads_here;   // that have come
    std::uint32_t threads;        // of this node
    std::vector<NodeId> missing;  // children in the tree, and the other head
  };
  std::optional<Wait> wait_of(BarrierId barrier, WaiterId waiter) const;

  void check_invariants() const;

 private:
  // What one of two nodes (or heads of clusters) says in its arrival.
  struct Said {
    bool plain = false;               // it is in no other barrier, and its notices have no hole
    bool acquired = false;            // BarrierArrive::acquired
    std::uint32_t barrier_exits = 0;  // barrier exits that have come to it
  };
  struct Barrier {
    std::uint32_t threads = 0;   // of this node
    std::vector<WaiterId> here;  // waiting threads: all but the last one
    bool arrived = false;        // the last thread has arrived for this node
    bool went_up = false;        // the subtree's arrival was sent: a barrier exit may come
    bool acquired = false;       // BarrierArrive::acquired
    // A copy of so_far, while the round is tried in memory; so_far gets it back if the round is not
    // held.
    std::optional<Reduction> set_aside;
    WaiterId leader;
    std::optional<BarrierGather> gather;  // a thread that waits for the others before it enters
    std::uint64_t children = 0;           // a bit for each child that has arrived in this round
    std::vector<std::byte> merged;        // the notice set of the subtree so far
    VectorTimestamp covered;              // by node: the last interval in `merged`
    Reduction so_far;  // of the subtree in this round; with another head: of this side
    Reduction there;   // of the other side
    Reduction result;  // of the last round that ended
    Said said_here;
    Said said_there;
    std::vector<std::byte> there_notices;      // the other side's, until it is merged
    std::vector<std::byte> came_with_arrival;  // the other node's GrantedBlocks
  };
  // A bit of Barrier::children: the other node, or the other head, has arrived.
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
  void tell_exit(NodeId to, BarrierId id, const Barrier& barrier, Bytes notices);
  bool received_exit(NodeId from, const wire::BarrierMessage& head, const Contribution& reduced,
                     Bytes notices);
  bool received_other(const wire::BarrierMessage& head, const Contribution& reduced, Bytes notices,
                      Bytes with_arrival);
  std::uint64_t child_bit(NodeId node) const;
  bool came_with_arrival_whole(Bytes blocks) const;

  NodeId self_;
  std::uint32_t nodes_;
  std::vector<NodeId> children_;
  NodeId parent_;
  NodeId other_ = kNoNode;  // of two nodes, or of the heads of two clusters: the other one
  std::uint32_t block_bytes_;
  std::uint32_t inside_ = 0;  // barriers with an arrival sent to other_, not exited yet
  IntervalLog& log_;
  Outbox& outbox_;
  VectorTimestamp distributed_;      // by node: the last interval that all know from exits
  std::uint32_t barrier_exits_ = 0;  // barrier exits that came here
  std::uint32_t learned_ = 0;        // those of them whose notices were applied here
  std::vector<std::byte> scratch_;
  std::unordered_map<std::uint32_t, Barrier> barriers_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
