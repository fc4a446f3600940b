#pragma once

#include "tools/launch/plan.h"

namespace terrane::tools {

// Runs a job and returns its exit code: this process becomes the guard of the engine that does the
// work (guard.h).
int run_job(const JobPlan& plan);

}  // namespace terrane::tools
