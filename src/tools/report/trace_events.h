#pragma once

#include <functional>
#include <string_view>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

// What is not in the text, since viewers cannot hold more.
struct TraceLeftOut {
  std::size_t counters = 0;  // chunks whose states are not in it: those that changed least
  std::size_t events = 0;    // of the nodes with the highest numbers
  std::size_t arrows = 0;    // from publications to where versions were taken
};

// The job as a JSON text in the trace event format (https://ui.perfetto.dev opens it): a process
// for each node, arrows for versions on their way. Given piece by piece to `write`; at most a
// million events.
TraceLeftOut write_trace_events(const JobLog& job,
                                const std::function<void(std::string_view)>& write);

}  // namespace terrane::tools::report
