#pragma once

#include <sched.h>

#include <atomic>

namespace terrane::transport {

// A lock of a few instructions that never sleeps in the kernel: it may be taken inside the fault
// handler. Holders do not call out and do not fault on the application view, so a waiter only waits
// for copies.
class SpinLock {
 public:
  void lock() noexcept {
    for (int round = 0; !try_lock(); ++round) {
      if (round < kSpins) {
        relax();
      } else {
        ::sched_yield();
      }
    }
  }
  bool try_lock() noexcept {
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 64;

  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

  std::atomic<bool> held_{false};
};

}  // namespace terrane::transport
