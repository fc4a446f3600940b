#pragma once

#include <atomic>

namespace terrane::runtime {

// What a front-end does before each operation of the node by which other threads may learn what the
// calling thread has done: a lock, a count, a barrier, an atomic operation. nullptr: nothing.
inline std::atomic<void (*)()>& before_operations() {
  static constinit std::atomic<void (*)()> function{nullptr};
  return function;
}

// Called outside of the operation, so it may call operations itself.
inline void begin_operation() {
  if (auto* function = before_operations().load(std::memory_order_relaxed)) function();
}

}  // namespace terrane::runtime
