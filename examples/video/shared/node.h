#pragma once

#include "options.h"

namespace video {

// One node of a job of chunks; returns the exit status. Node 0 has the input and the output, the
// other nodes work; alone, node 0 works too. Node 0 reports wrong options.
int run_node(const Outcome<Options>& options);

}  // namespace video
