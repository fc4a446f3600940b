#pragma once

#include <cstdint>

namespace video {

// The clock that all processes of a host share.
std::uint64_t now_ns();
// Processor time of this process, all threads, and of the children that it has waited for.
std::uint64_t cpu_ns();

// What one worker did: how long the kernel ran, and how long it waited between two runs.
class WorkerTally {
 public:
  void begin() { last_ns_ = now_ns(); }
  template <typename Run>
  void frame(Run run) {
    const std::uint64_t from = now_ns();
    run();
    const std::uint64_t to = now_ns();
    waiting_ns_ += from - last_ns_;
    processing_ns_ += to - from;
    last_ns_ = to;
    ++frames_;
  }
  // "row=worker ...", for bench_video.py.
  void print(int worker) const;
  std::uint64_t frames() const { return frames_; }

 private:
  std::uint64_t last_ns_ = 0, processing_ns_ = 0, waiting_ns_ = 0, frames_ = 0;
};

// What one process used between begin() and print(): processor time, messages, peak memory.
class ProcessTally {
 public:
  void begin();
  // The work of this process is done; print() may come later.
  void end();
  void sent(std::uint64_t bytes) {
    ++messages_;
    bytes_ += bytes;
  }
  // "row=process ...", for bench_video.py.
  void print(const char* role) const;
  double seconds() const { return static_cast<double>(end_ns_ - begin_ns_) / 1e9; }

 private:
  std::uint64_t begin_ns_ = 0, end_ns_ = 0, begin_cpu_ns_ = 0, cpu_used_ns_ = 0;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

}  // namespace video
