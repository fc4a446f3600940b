#include "shared/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace video {
namespace {

double speed(const WorkerState& worker) {
  if (worker.processing_ns == 0) return 0;
  return static_cast<double>(worker.parts) / static_cast<double>(worker.processing_ns);
}

}  // namespace

void share_ideally(std::vector<WorkerState>& workers) {
  double parts = 0, all = 0;
  for (const WorkerState& worker : workers) {
    parts += static_cast<double>(worker.parts);
    all += speed(worker);
  }
  for (WorkerState& worker : workers) worker.ideal = all > 0 ? parts * speed(worker) / all : 0;
}

double deviation(const std::vector<WorkerState>& workers) {
  double sum = 0;
  for (const WorkerState& worker : workers) {
    sum += std::abs(static_cast<double>(worker.parts) - worker.ideal);
  }
  return sum;
}

void Progress::note(std::uint32_t node, std::uint64_t processing_ns) {
  std::lock_guard guard(mutex_);
  WorkerState& worker = workers_[node];
  worker.node = node;
  ++worker.parts;
  worker.processing_ns += processing_ns;
}

void Progress::written(std::uint64_t latency_ns) {
  std::lock_guard guard(mutex_);
  ++written_;
  latency_ns_ = written_ == 1 ? latency_ns : (latency_ns_ * 7 + latency_ns) / 8;
}

void Progress::read_one() {
  std::lock_guard guard(mutex_);
  ++read_;
}

std::vector<WorkerState> Progress::workers() const {
  std::vector<WorkerState> all;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [node, worker] : workers_) all.push_back(worker);
  }
  share_ideally(all);
  return all;
}

std::uint64_t Progress::together_ns() const {
  double all = 0;
  for (const WorkerState& worker : workers()) all += speed(worker);
  return all > 0 ? static_cast<std::uint64_t>(1 / all) : 0;
}

std::uint64_t Progress::fastest_ns() const {
  double most = 0;
  for (const WorkerState& worker : workers()) most = std::max(most, speed(worker));
  return most > 0 ? static_cast<std::uint64_t>(1 / most) : 0;
}

std::optional<std::uint32_t> Progress::staying() {
  std::lock_guard guard(mutex_);
  if (staying_) return staying_;
  double most = 0;
  for (const auto& [node, worker] : workers_) {
    if (speed(worker) <= most) continue;
    most = speed(worker);
    staying_ = node;
  }
  return staying_;
}

std::uint64_t Progress::frames_read() const {
  std::lock_guard guard(mutex_);
  return read_;
}

std::uint64_t Progress::frames_written() const {
  std::lock_guard guard(mutex_);
  return written_;
}

std::uint64_t Progress::latency_ns() const {
  std::lock_guard guard(mutex_);
  return latency_ns_;
}

void Progress::print() const {
  const std::vector<WorkerState> all = workers();
  for (const WorkerState& worker : all) {
    std::printf("row=share node=%u parts=%llu processing_ns=%llu ideal=%.1f\n", worker.node,
                static_cast<unsigned long long>(worker.parts),
                static_cast<unsigned long long>(worker.processing_ns), worker.ideal);
  }
  std::printf("row=deviation parts=%.1f latency_ns=%llu\n", deviation(all),
              static_cast<unsigned long long>(latency_ns()));
}

}  // namespace video
