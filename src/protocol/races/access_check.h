#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Bytes of shared memory that an instruction has read or written, maybe by several executions.
struct AccessedBytes {
  std::uint64_t first = 0;  // offset in shared memory
  std::uint32_t bytes = 0;
  std::uint32_t is_write = 0;
  std::uint64_t place = 0;  // of the instruction in the program

  std::uint64_t end() const { return first + bytes; }
  bool operator==(const AccessedBytes&) const = default;
};

// What threads of a node have accessed in one of its intervals, as far as it is known. `known`: the
// node's vector timestamp, with an entry for each node, when the interval was closed.
struct AccessInterval {
  std::uint32_t interval = 0;
  std::vector<std::uint32_t> known;
  std::vector<AccessedBytes> accesses;
};

// What the threads of one node have accessed. The host calls it under a lock of its own.
class AccessLog {
 public:
  // At most so many accesses are kept, of all intervals together.
  explicit AccessLog(std::uint64_t most) : most_(most) {}

  // What was accessed since the last call belongs to the interval that is about to be closed.
  // Result: whether that is anything.
  bool close(NodeId self, std::span<const std::uint32_t> known,
             std::vector<AccessedBytes> accesses);

  // Drops the accesses for which drops(access) is true.
  template <typename Drops>
  void forget(Drops drops) {
    for (AccessInterval& interval : intervals_) kept_ -= std::erase_if(interval.accesses, drops);
  }

  const std::vector<AccessInterval>& intervals() const { return intervals_; }
  // How many accesses were left out, for which there was no room.
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::uint64_t most_;
  std::uint64_t kept_ = 0;
  std::uint64_t left_out_ = 0;
  std::vector<AccessInterval> intervals_;
};

// One of two accesses that race.
struct AccessOfNode {
  NodeId node{};
  bool is_write = false;
  std::uint64_t place = 0;

  bool operator==(const AccessOfNode&) const = default;
};

// Two nodes have accessed the same bytes, at least one of them has written, and nothing orders the
// two: neither node knew of the other's interval.
struct AccessRace {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
  std::uint64_t times = 0;  // intervals of the first node
  AccessOfNode one, other;  // in the order of their nodes
};

// Finds all races between intervals of several nodes (`--check=races=reads`), at the end of a job.
// An access belongs to an interval that was closed after it and before anything that its thread did
// later could be known elsewhere. So if an access happened before another one, the node of the
// later one knew the earlier interval, and no race is found between the two.
class AccessCheck {
 public:
  // Of each node once; the caller keeps them.
  void add(NodeId node, const std::vector<AccessInterval>& intervals);
  // The races, by their first byte; at most `most`, others are left out.
  std::vector<AccessRace> find(std::size_t most) const;

 private:
  // The same access in several intervals of a node, in their order.
  struct Group {
    NodeId node{};
    AccessedBytes access;
    std::vector<const AccessInterval*> in;
  };

  static std::uint64_t count_races(const Group& one, const Group& other);

  std::vector<Group> groups_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
