#pragma once

#include <atomic>

namespace terrane::frontend {

// What is called in a thread that has slept for some time, waited for a descriptor, or given its
// processor away: it may poll memory in between. nullptr: nobody wants to know. Set before there
// are threads.
inline constinit std::atomic<void (*)()> after_sleep{nullptr};

inline void note_sleep() {
  if (auto* call = after_sleep.load(std::memory_order_relaxed); call != nullptr) call();
}

// A result on its way to the caller.
template <typename Result>
Result slept(Result result) {
  note_sleep();
  return result;
}

}  // namespace terrane::frontend
