#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/launch/watch/job_view.h"

namespace terrane::tools {

// Views of a job as a page in Prometheus' text format (version 0.0.4). Counters of a page are never
// below those of a page before.
class MetricsPage {
 public:
  std::string text(const JobView& view);

 private:
  // Seconds, by node and kind.
  std::map<std::pair<std::uint32_t, std::string>, double> highest_;
};

}  // namespace terrane::tools
