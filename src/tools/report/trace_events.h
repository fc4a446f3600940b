#pragma once

#include <functional>
#include <string_view>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

// The job as JSON in Chrome's trace event format, which Perfetto's viewer opens: nodes are its
// processes. Pieces go to `write` in order. Answers how many chunks have no counter of their state:
// only those that changed most have one.
std::size_t write_trace_events(const JobLog& job,
                               const std::function<void(std::string_view)>& write);

}  // namespace terrane::tools::report
