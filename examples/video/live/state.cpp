#include "live/state.h"

namespace video {

std::string state_json(const Progress& progress, Shape shape) {
  const std::uint64_t read = progress.frames_read(), written = progress.frames_written();
  std::string workers;
  for (const WorkerState& worker : progress.workers()) {
    workers += std::string(workers.empty() ? "" : ",") +
               "{\"node\":" + std::to_string(worker.node) +
               ",\"done\":" + std::to_string(worker.parts) +
               ",\"ideal\":" + std::to_string(worker.ideal) + "}";
  }
  return "{\"read\":" + std::to_string(read) + ",\"written\":" + std::to_string(written) +
         ",\"bytes_in_flight\":" +
         std::to_string((read - std::min(read, written)) * shape.bytes()) +
         ",\"latency_ms\":" + std::to_string(static_cast<double>(progress.latency_ns()) / 1e6) +
         ",\"width\":" + std::to_string(shape.width) +
         ",\"height\":" + std::to_string(shape.height) + ",\"workers\":[" + workers + "]}";
}

}  // namespace video
