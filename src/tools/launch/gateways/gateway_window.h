#pragma once

#include <cstdint>

#include "tools/launch/plan.h"

namespace terrane::tools {

// The largest window of a pair of nodes where links have no figures.
inline constexpr std::uint64_t kMostUsualWindow = std::uint64_t{4} << 20;

// Bytes of one pair of nodes that may be on their way through gateways; the same at all gateways
// and ends of the job. Where links have bandwidth and latency, so many that one pair fills the
// slowest way between two clusters, as far as the gateways' memory and that of the nodes allow.
std::uint64_t gateway_window(const JobPlan& plan);

}  // namespace terrane::tools
