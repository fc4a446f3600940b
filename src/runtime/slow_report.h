#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace terrane::runtime {

class LockCounters;
class SiteCounters;
class ThreadRegistry;

// Where the time of one node's program threads went. Sent between nodes as it is.
struct NodeTimes {
  std::uint64_t elapsed_ns = 0;  // since the node joined the job
  std::uint64_t lived_ns = 0;    // of all threads together; the others are parts of it
  std::uint64_t fetch_ns = 0, lock_ns = 0, barrier_ns = 0;
  std::uint64_t first_ns = 0;  // part of fetch_ns: for pages that had not been here before
  // Of the locks that travel, the one for which they waited longest: its token, the time, how often
  // a thread got it, and how often from another node.
  std::uint64_t lock = 0, lock_wait_ns = 0, acquires = 0, remote = 0;

  double share_of(std::uint64_t ns) const {
    return lived_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(lived_ns);
  }
};

// Of this node, which has been in the job for so long.
NodeTimes times_of(const ThreadRegistry& threads, const SiteCounters& sites,
                   const LockCounters& locks, std::uint64_t elapsed_ns);

// A sentence about what was slow, and which part of a node's time it took.
struct SlowSentence {
  double share = 0;
  std::uint64_t ns = 0;
  std::string text;
};

// "41 %", "0.3 %".
std::string percent(double share);

// What took a node's time, by the times of all nodes. first_from: how many pages that had not been
// there before came from each node, by the node to which they came; empty: it is not known, and
// neither is which pages came again.
// name_of: a lock by its token.
std::vector<SlowSentence> slow_sentences(
    std::span<const NodeTimes> nodes, std::span<const std::vector<std::uint64_t>> first_from,
    const std::function<std::string(std::uint64_t lock)>& name_of);

// The lines of a report: the three sentences of the largest shares, or one that says that there are
// none.
std::vector<std::string> slow_lines(std::vector<SlowSentence> sentences);

}  // namespace terrane::runtime
