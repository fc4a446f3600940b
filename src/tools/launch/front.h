#pragma once

#include "tools/launch/plan.h"

namespace terrane::tools {

// Runs a job of the local engine and returns its exit code. This process stays the one that the
// user sees: it takes signals and the terminal, and passes them on to the engine, a child process
// that owns the nodes. Whichever of the two is killed, the other ends every process of the job
// (docs/decisions/0003-local-launcher-processes.md).
int run_job(const JobPlan& plan);

}  // namespace terrane::tools
