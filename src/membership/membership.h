#pragma once

#include <memory>

#include "base/result.h"
#include "bootstrap/bootstrap.h"

namespace terrane::membership {

// One process is one node of one job, whatever front-ends it uses. The first call finds the job and
// takes the process's place in it; each later one gives another part in the same place. A part is
// what a front-end sees of the launcher: its exchanges are in turn with those of the others, each
// part hears all news, and the launcher learns that the node has left when the last part has.
// All nodes take their parts in the same order, since each comes with exchanges.
//
// Lives in libterrane_runtime, of which a process has one copy; all front-ends call it there.
// Threads: any. Errors: those of Bootstrap::connect(); a child of a process that has a place; a
// process whose only part was given back without leaving, which has lost its place.
[[gnu::visibility("default")]] base::Result<std::unique_ptr<bootstrap::Bootstrap>> join();

}  // namespace terrane::membership
