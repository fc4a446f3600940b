#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "protocol/races/access_check.h"
#include "runtime/home_check.h"

namespace terrane::runtime {

// What flags have ordered: atomic loads and stores that are ordinary instructions, and of which the
// protocol knows nothing. What was before a store may have happened before what is behind a load of
// another node. Whether the load saw the store is not known, so the
// interval of the store counts as known to that of the load: a race may be missed, and none is
// invented. Only with --check=races=reads, at the end of a job.
class FlagOrder {
 public:
  using Intervals = std::vector<std::vector<protocol::AccessInterval>>;  // by node, in their order

  // is_atomic: whether an instruction is an atomic load or store. orders: whether shared memory at
  // an offset is in a page whose accesses may order all that is before the one and behind the
  // other.
  FlagOrder(Intervals intervals, std::function<bool(std::uint64_t place)> is_atomic,
            std::function<bool(std::uint64_t offset)> orders)
      : intervals_(std::move(intervals)),
        is_atomic_(std::move(is_atomic)),
        orders_(std::move(orders)) {}

  // The races that are left when flags have ordered what they may have ordered. Once.
  std::vector<protocol::AccessRace> races();
  // After races(): whether a home's record is no race: flags have ordered all of its pairs, or both
  // nodes have written these bytes by atomic stores alone, as far as it was seen. A release that is
  // under way while a thread writes may put its bytes into the next interval, and what the thread
  // was seen to do into this one. Then the pairs may differ by one, if what was seen is in order.
  bool explains(const RaceRecord& record) const;

 private:
  struct OfNode {
    std::uint32_t node;
    const protocol::AccessInterval* interval;
  };

  static bool knows(const OfNode& one, const OfNode& other) {
    return one.interval->known[other.node] >= other.interval->interval;
  }
  std::vector<OfNode> intervals_with(const protocol::AccessOfNode& access,
                                     const protocol::AccessRace& race) const;
  bool orders_both(const protocol::AccessRace& race) const { return orders_(race.first); }
  bool are_atomic(const protocol::AccessRace& race) const {
    return is_atomic_(race.one.place) && is_atomic_(race.other.place);
  }
  bool tell(const OfNode& from, const OfNode& to);
  enum class Order { kNothingNew, kNew, kTooMany };
  Order order(const std::vector<protocol::AccessRace>& atomic);
  bool is_known(std::uint32_t to_node, std::uint32_t to, std::uint32_t node,
                std::uint32_t interval) const;
  bool are_ordered(const RaceRecord& record, std::uint32_t later_by) const;
  bool is_seen_in_order(const RaceRecord& record) const;
  bool are_atomic_writes(const RaceRecord& record, std::uint32_t node) const;

  Intervals intervals_;
  std::vector<protocol::AccessRace> before_, after_;  // of two writes: flags have ordered them
  std::function<bool(std::uint64_t)> is_atomic_, orders_;
};

}  // namespace terrane::runtime
