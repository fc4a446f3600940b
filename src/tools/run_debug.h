#pragma once

#include "base/result.h"
#include "tools/launch/plan.h"
#include "tools/run_options.h"

namespace terrane::tools {

// Puts into the plan, whose hosts and engine are chosen, what --debug asks for: nodes that wait for
// a debugger, and the words of a terminal and of the debugger in it. The error is of the command
// line or of what this host lacks.
base::Result<> plan_debugging(const RunOptions& options, JobPlan& plan);

}  // namespace terrane::tools
