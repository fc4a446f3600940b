#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace video {

// What one worker has done, as the output sees it.
struct WorkerState {
  std::uint32_t node = 0;
  std::uint64_t parts = 0;          // frames, or strips of them
  std::uint64_t processing_ns = 0;  // of all of them
  double ideal = 0;                 // parts that it would have if all workers always had work
};

// What the output knows of the run; threads of node 0 share it.
class Progress {
 public:
  // A result has come.
  void note(std::uint32_t node, std::uint64_t processing_ns);
  // A whole frame has been written, so many ns after it was read.
  void written(std::uint64_t latency_ns);
  void read_one();  // the input has read a frame.

  // The paper's ideal: each worker's share by its speed, of all parts so far.
  std::vector<WorkerState> workers() const;
  // The time that all workers together take for a part; 0: some worker has none yet.
  std::uint64_t together_ns() const;
  std::uint64_t fastest_ns() const;  // The time of the fastest worker for a part.
  // The worker that stays to the end: the fastest one at the first call, whatever comes later.
  // None: no worker has done a part yet.
  std::optional<std::uint32_t> staying();
  std::uint64_t frames_read() const;
  std::uint64_t frames_written() const;
  std::uint64_t latency_ns() const;  // the mean of the last frames

  // "row=share ..." for each worker, for bench_video.py.
  void print() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint32_t, WorkerState> workers_;
  std::optional<std::uint32_t> staying_;
  std::uint64_t read_ = 0, written_ = 0, latency_ns_ = 0;
};

// Sets `ideal` of each: parts in proportion to speed. Workers without parts have none.
void share_ideally(std::vector<WorkerState>& workers);
// The sum over the workers of |parts - ideal|.
double deviation(const std::vector<WorkerState>& workers);

}  // namespace video
