#pragma once

#include <string>

#include "base/result.h"
#include "bootstrap/adoption.h"

namespace terrane::bootstrap {

// The command `terrane` that belongs to this library: TERRANE_PREFIX/bin/terrane where that
// variable is set, or ../bin/terrane or terrane beside the library (or the program that it is
// linked into).
base::Result<std::string> own_terrane();

// Starts the engine that takes in the nodes of this host: `terrane adopt`, a process in a session
// of its own that outlives this one. Blocks until it serves the door. Returns where its hub is.
base::Result<std::string> start_adopting_engine(const AdoptionOrder& order, const Door& door);

}  // namespace terrane::bootstrap
