#pragma once

#include "options.h"

namespace video {

// The implementations in one process. They print rows for bench_video.py and the result.
Outcome<> run_sequential(const Options& options);
// An input thread, `options.workers` workers and an output thread, with a pool of 2 W + 2 buffers.
Outcome<> run_threads(const Options& options);

}  // namespace video
