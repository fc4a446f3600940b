#pragma once

#include <string>
#include <vector>

#include "tools/report/streams.h"

namespace terrane::tools::report {

// The part of the page about streams: a table of subscribers with the latency from a version's
// publication until it is taken, and for each stream its rate and its latencies over time.
// "" where no node took a version.
std::string stream_section(const JobLog& job, const std::vector<Stream>& all);
// A sentence about the slowest subscriber; "" if all are about as fast.
std::string slowest_subscriber(const JobLog& job, const std::vector<Stream>& all);

}  // namespace terrane::tools::report
