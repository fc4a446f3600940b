#pragma once

#include <map>
#include <vector>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

// What happened, counted: of a node, or of a chunk on all nodes. Times in nanoseconds.
struct Tally {
  std::uint64_t opened[3] = {};  // scopes, by mode: read, write, read-write
  std::uint64_t at_once = 0;     // of them
  std::uint64_t taken = 0;       // versions
  std::uint64_t refused = 0;     // scopes that did not open
  std::uint64_t wait_ns = 0, longest_wait_ns = 0;
  std::uint64_t published = 0, missed = 0, lost = 0;                                 // versions
  std::uint64_t sent_shared = 0, sent_copied = 0, came_shared = 0, came_copied = 0;  // bytes
  std::uint64_t handlers = 0, handler_ns = 0;
  std::uint64_t states = 0;  // changes

  std::uint64_t scopes() const { return opened[0] + opened[1] + opened[2] + taken; }
  // For how long scopes were open. Of those that opened at once about, where not all are noted.
  std::uint64_t held_ns() const;
  void add(const Record& record);

 private:
  void add_at_once(const Record& record);

  std::uint64_t closed_ns_ = 0;                       // of scopes that had waited
  std::uint64_t at_once_timed_ = 0, at_once_ns_ = 0;  // for which a record counts
};

struct ChunkTotals {
  std::uint64_t object = 0;
  Tally tally;
  std::vector<std::uint64_t> waits;  // sorted; of calls that did not open a scope at once

  std::uint64_t calls() const { return waits.size() + tally.at_once; }
  // Which so many percent of all calls did not exceed.
  std::uint64_t wait_ns(unsigned percent) const;
};

// Of a lock, a barrier or a signal.
struct MeetingTotals {
  std::uint64_t object = 0;
  Making making = Making::kLock;
  std::uint64_t times = 0, wait_ns = 0, longest_ns = 0;
};

struct NodeTotals {
  Tally tally;  // of chunks that programs see; bytes of all
  std::uint64_t meetings = 0, meeting_ns = 0;
  std::map<std::uint16_t, std::uint64_t> others;  // events that this version does not know
};

struct Totals {
  std::vector<NodeTotals> nodes;        // as in JobLog::logs
  std::vector<ChunkTotals> chunks;      // the longest wait of all first
  std::vector<MeetingTotals> meetings;  // the same
};

Totals count(const JobLog& job);

// How many copies a node has in each state (shared, exclusive, modified), at `points` equal steps.
using StatesInTime = std::vector<std::array<std::uint32_t, 3>>;
StatesInTime states_in_time(const JobLog& job, const NodeLog& log, std::size_t points);
// The highest state of one chunk's copy on the node within each step.
std::vector<std::uint8_t> states_of_chunk(const JobLog& job, const NodeLog& log,
                                          std::uint64_t object, std::size_t points);

}  // namespace terrane::tools::report
