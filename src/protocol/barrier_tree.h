#pragma once

#include <bit>
#include <optional>
#include <unordered_map>

#include "protocol/effects.h"
#include "protocol/interval_log.h"
#include "protocol/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node's part in the job's barriers: its threads gather here, the last of them flushes and
// arrives for all; arrivals climb a tree of the nodes and carry each subtree's notices, the
// departure brings the merged set down to everyone. All barriers use one tree, so departures come
// to every node in the same order; they are numbered, and must be applied in that order.
class BarrierTree {
 public:
  BarrierTree(NodeId self, std::uint32_t nodes, std::uint32_t arity, IntervalLog& log,
              Outbox& outbox);

  void enter(const BarrierEnter& event);
  void told(BarrierId barrier, WaiterId waiter);
  // Resumed with the departure's number, from 1.
  void arrive(BarrierId barrier, WaiterId waiter);
  void result(BarrierId barrier, WaiterId waiter);
  void leave(BarrierId barrier);
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
    std::vector<NodeId> missing;  // children in the tree
  };
  std::optional<Wait> wait_of(BarrierId barrier, WaiterId waiter) const;

  void check_invariants() const;

 private:
  struct Barrier {
    std::uint32_t threads = 0;   // of this node
    std::vector<WaiterId> here;  // threads that wait, all but the last
    bool arrived = false;        // the last one arrived for this node
    bool went_up = false;        // the subtree's arrival was sent: a departure may come
    bool set_aside = false;  // this node brings no value, and so_far does not say that it has come
    WaiterId leader;
    std::uint64_t children = 0;     // a bit for each child that arrived in this round
    std::vector<std::byte> merged;  // the notice set of the subtree so far
    VectorTimestamp covered;        // up to where it tells of each node
    Reduction so_far;               // of the subtree, in this round
    Reduction result;               // of the round that ended last
  };

  static std::uint32_t arrived_children(const Barrier& barrier) {
    return static_cast<std::uint32_t>(std::popcount(barrier.children));
  }
  void merge(Barrier& barrier, Bytes notices);
  void advance(BarrierId id, Barrier& barrier);
  void depart(BarrierId id, Barrier& barrier, Bytes notices);
  void write(wire::Kind kind, BarrierId id, const Reduction& reduction, Bytes notices);

  NodeId self_;
  std::uint32_t nodes_;
  std::uint32_t first_child_;
  std::uint32_t children_;  // how many
  NodeId parent_;
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
