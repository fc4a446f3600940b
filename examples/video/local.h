#pragma once

#include <memory>

#include "options.h"
#include "sink.h"
#include "source.h"

namespace video {

// What a run in one process works with.
struct LocalRun {
  Work work;
  std::unique_ptr<Source> source;
  std::unique_ptr<SummedSink> sink;
};
Outcome<LocalRun> open_local(const Options& options);

// The implementations in one process. They print rows for bench_video.py and the result.
Outcome<> run_sequential(const Options& options);
// An input thread, `options.workers` workers and an output thread, with a pool of 2 W + 2 buffers.
Outcome<> run_threads(const Options& options);

}  // namespace video
