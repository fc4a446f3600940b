#pragma once

#include <vector>

#include "base/result.h"
#include "tools/launch/host_list.h"

namespace terrane::tools {

// Whether this process runs inside an allocation of Slurm.
bool inside_slurm_allocation();

// The allocation's hosts and their slots: the tasks that were asked for (-n, --ntasks-per-node), or
// else one a host. Asks Slurm's own `scontrol` to take the list of hosts apart.
base::Result<std::vector<HostSlots>> slurm_hosts();

}  // namespace terrane::tools
