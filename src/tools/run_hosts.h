#pragma once

#include "tools/run_options.h"

namespace terrane::tools {

// The command that reaches other hosts, where --rsh is not given.
inline constexpr const char* kRshVariable = "TERRANE_RSH";

// Decides on which hosts the job runs, how many nodes, and what starts the engines of the other
// hosts; sets these in run.plan and says why in run.notices where that is asked for.
base::Result<> choose_hosts(const RunOptions& options, PlannedRun& run);

}  // namespace terrane::tools
