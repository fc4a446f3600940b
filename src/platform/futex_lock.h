#pragma once

#include <atomic>
#include <cstdint>

#include "platform/wait.h"

namespace terrane::platform {

// A lock of one word that sleeps in the kernel where it must: async-signal-safe, as long as no
// handler takes it in a thread that holds it. For std::lock_guard.
class FutexLock {
 public:
  void lock() {
    std::uint32_t free = kFree;
    if (word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return;
    while (word_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
      futex_wait(word_, kWaitedFor, 0);
    }
  }
  void unlock() {
    if (word_.exchange(kFree, std::memory_order_release) == kWaitedFor) futex_wake_all(word_);
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kWaitedFor = 2;
  std::atomic<std::uint32_t> word_{kFree};
};

}  // namespace terrane::platform
