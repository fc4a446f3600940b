// The edges of each picture of a video: by threads of one process, or on the nodes of a job.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "exit_status.h"
#include "local.h"
#include "shared/node.h"

namespace video {
namespace {

int run(int argc, char** argv) {
  const bool in_job = std::getenv("TERRANE_NODE") != nullptr;
  Outcome<Options> options =
      parse_options(argc, argv,
                    in_job ? std::vector<std::string>{"chunks"}
                           : std::vector<std::string>{"threads", "sequential", "chunks"});
  if (in_job) return run_node(options);
  if (!options.ok()) return complain(options.sentence(), kUsageError);
  if (options.value().help) return std::fputs(kUsage, stdout), kOk;
  if (options.value().with == "chunks") return run_node(options);
  Outcome<> done = options.value().with == "sequential" ? run_sequential(options.value())
                                                        : run_threads(options.value());
  return done.ok() ? kOk : complain(done.sentence(), kFailed);
}

}  // namespace
}  // namespace video

int main(int argc, char** argv) {
  try {
    return video::run(argc, argv);
  } catch (const std::exception& error) {
    return video::complain(error.what());
  }
}
