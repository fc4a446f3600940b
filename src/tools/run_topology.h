#pragma once

#include "tools/launch/gateways/topology_file.h"
#include "tools/run_options.h"

namespace terrane::tools {

// Reads the file of --topology, where one is named, and uses what it says for the options
// that were not given; all but the servers, which depend on where the nodes go.
base::Result<TopologyFile> take_topology(RunOptions& options);

}  // namespace terrane::tools
