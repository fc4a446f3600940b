#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "tools/launch/doorkeeper.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// Runs a job and returns its exit code: this process becomes the guard of the engine that does the
// work (guard.h).
int run_job(const JobPlan& plan);

// The same for nodes that another launcher starts: `answer` is called once, in the engine, when the
// door is served, with the address of the hub, or with why it is not.
int run_adopting_job(const JobPlan& plan, DoorPlan door,
                     const std::function<void(const base::Result<std::string>&)>& answer);

}  // namespace terrane::tools
