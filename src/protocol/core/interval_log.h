#pragma once

#include <cstdint>
#include <vector>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// For each node, the number of its latest interval that is known (TreadMarks; Keleher, Cox,
// Zwaenepoel 1992).
using VectorTimestamp = std::vector<std::uint32_t>;

// The write notices that a node knows, its own and others', for passing on: a suffix of each node's
// intervals. Memory is bounded: beyond a limit the oldest are forgotten, and a set made for
// somebody who would have needed them says so by its base; that receiver drops all its copies
// (always right, and rare).
class IntervalLog {
 public:
  IntervalLog(std::uint32_t nodes, std::uint32_t max_ranges);

  const VectorTimestamp& timestamp() const { return known_; }

  // Whether a notice set that came to `self` is one that may be learned: whole, within the job's
  // bounds, and without intervals of our own that we have not closed.
  bool believable(Bytes notices, NodeId self, std::uint64_t blocks) const;

  // A new interval of `node`, the one after timestamp()[node].
  void append(std::uint32_t node, std::uint32_t interval, const std::vector<BlockRange>& ranges);
  // Takes over what a (believable) notice set says that is new here, and raises the timestamp.
  void learn(Bytes notices);
  // Forgets the intervals of every node up to `floor` (all nodes know them).
  void forget(const VectorTimestamp& floor);

  // Appends a notice set of what lies after `since`, as far as it is still known here. Nodes with
  // nothing new are left out.
  void write_since(const VectorTimestamp& since, std::vector<std::byte>& out) const;
  // Appends one entry: what `node` did after `since`, always, even when nothing.
  void write_entry(std::uint32_t node, std::uint32_t since, std::vector<std::byte>& out) const;

  std::uint64_t ranges() const { return ranges_; }
  void check_invariants() const;

 private:
  struct Record {
    std::uint32_t interval;
    std::uint32_t first_range;
    std::uint32_t ranges;
  };
  // One node's records, oldest first; the front is forgotten by moving `head` and compacted now and
  // then.
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
