#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::frontend::omp {

struct Task;

inline constexpr std::uint32_t kMostQueued = 64;         // tasks of a queue
inline constexpr std::uint32_t kRoom = 2 * kMostQueued;  // for those that come back, or are lent

struct alignas(64) Queue {
  std::atomic<bool> busy{false};
  std::atomic<std::uint32_t> count{0};
  std::uint32_t first = 0;
  Task* tasks[kRoom] = {};
};

// The tasks of a team on this node: the queues of its threads here, and the barrier at which they
// wait until all have ended. In private memory.
struct TaskPool {
  Queue* queues = nullptr;                    // by the threads' places among those of this node
  std::uint32_t room = 0;                     // so many have one
  std::atomic<std::uint32_t> queues_used{0};  // the first of them, so far
  std::atomic<bool> has_created{false};       // tasks, since take_had_tasks (task_queue.h)
  alignas(64) std::atomic<std::uint32_t> unfinished{0};  // tasks that have not ended
  // The threads that have come to the barrier at hand, and how many barriers are over.
  alignas(64) std::atomic<std::uint32_t> come{0};
  std::atomic<std::uint64_t> barriers_over{0};
};

}  // namespace terrane::frontend::omp
