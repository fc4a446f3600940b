#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/node_log.h"

namespace terrane::tools::report {

// The logs of a job's nodes on one scale of time: nanoseconds from the first event of all on.
struct JobLog {
  std::uint32_t nodes = 0;                  // that the job was started with
  std::vector<NodeLog> logs;                // by node, chunks first; some may be missing
  std::map<std::uint64_t, Object> objects;  // of all nodes
  std::uint64_t length_ns = 0;              // until the last event
  std::uint64_t records = 0;
  std::uint32_t scopes_every = 1;               // the most of the nodes' (NodeLog)
  std::vector<std::string> notes;               // sentences: what is missing or could not be read
  bool has_chunks = false, has_strips = false;  // logs of them
};

// `path`: a node's log, or the folder of all.
base::Result<JobLog> read_job(const std::string& path);
// Of logs that have been read; fails where they are not of one job.
base::Result<JobLog> join_logs(std::vector<NodeLog> logs);

// Chunks that programs do not see: what a lock, a barrier or a signal is made of has such a name.
enum class Making { kChunk, kLock, kBarrier, kSignal };
Making making_of(std::string_view name);
Making making_of(const JobLog& job, std::uint64_t object);
// Its name without what it is made of, as text that is safe anywhere: bytes that are no UTF-8,
// and controls, as \xNN. A number where nobody has named it.
std::string text_of(const JobLog& job, std::uint64_t object);
std::string printable(std::string_view bytes);

}  // namespace terrane::tools::report
