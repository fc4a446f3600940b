#pragma once

#include <functional>

#include "base/result.h"
#include "tools/launch/guests/doorkeeper.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// Runs a job and returns its exit code: this process becomes the guard of the engine that does the
// work (guard.h).
int run_job(const JobPlan& plan);

// Called once, in an engine that takes in nodes: it serves, and this is where its hub is (nowhere:
// there is no other host); or why it cannot.
using AdoptionAnswer = std::function<void(const base::Result<HubAddress>&)>;

// The same for nodes that another launcher starts: the plan's engine is kForeign.
int run_adopting_job(const JobPlan& plan, DoorPlan door, const AdoptionAnswer& answer);

}  // namespace terrane::tools
