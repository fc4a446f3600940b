#pragma once

#include <cstdint>
#include <vector>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// For each node the number of its last interval that is known (TreadMarks; Keleher, Cox, Zwaenepoel
// 1992).
using VectorTimestamp = std::vector<std::uint32_t>;

// The write notices that a node knows, its own and those of other nodes, kept to be passed on: for
// each node a suffix of its intervals. Memory is bounded: beyond max_ranges the oldest intervals
// are forgotten. A notice set for a node that needs forgotten intervals says so by its base; its
// receiver drops all its copies, which is always right, and rare.
class IntervalLog {
 public:
  IntervalLog(std::uint32_t nodes, std::uint32_t max_ranges);

  const VectorTimestamp& timestamp() const { return known_; }

  // Whether a notice set that came to `self` may be learned: it is whole, within the job's bounds,
  // and names no interval of `self` that is not closed yet.
  bool believable(Bytes notices, NodeId self, std::uint64_t blocks) const;

  // Adds the next interval of `node`, number timestamp()[node] + 1.
  void append(std::uint32_t node, std::uint32_t interval, const std::vector<BlockRange>& ranges);
  // Adds the intervals of a (believable) notice set that are new here, and raises the timestamp.
  void learn(Bytes notices);
  // Forgets the intervals of each node up to `floor`, which all nodes know.
  void forget(const VectorTimestamp& floor);

  // Appends a notice set with the intervals after `since` that are still known here. Nodes with no
  // new intervals are left out.
  void write_since(const VectorTimestamp& since, std::vector<std::byte>& out) const;
  // Appends one entry: the intervals of `node` after `since`; also if there are none.
  void write_entry(std::uint32_t node, std::uint32_t since, std::vector<std::byte>& out) const;

  std::uint64_t ranges() const { return ranges_; }
  void check_invariants() const;

 private:
  struct Record {
    std::uint32_t interval;
    std::uint32_t first_range;
    std::uint32_t ranges;
  };
  // One node's records, oldest first. To forget the first ones moves `head`; the vectors are
  // compacted from time to time.
  struct History {
    std::vector<Record> records;
    std::vector<BlockRange> ranges;
    std::size_t head = 0;
    std::uint32_t floor = 0;  // intervals up to this one are forgotten
  };

  void push(std::uint32_t node, std::uint32_t interval);
  void forget_history(History& history, std::uint32_t floor);
  void bound();

  VectorTimestamp known_;
  std::vector<History> histories_;
  std::uint64_t ranges_ = 0;
  std::uint32_t max_ranges_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
