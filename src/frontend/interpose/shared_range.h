#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/panes.h"

namespace terrane::frontend {

// Where this process has shared memory: one part of the one Node behind the C interface that the
// functions in front of the C library's look at, so that a buffer elsewhere costs a comparison or
// two. None before terrane_init, after terrane_finalize, and in a child of fork.
class SharedRange {
 public:
  static void set(const void* base, std::uint64_t bytes) {
    base_.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
    bytes_.store(bytes, std::memory_order_release);
  }
  // Stretches that lie elsewhere; they live as long as the process.
  static void set_panes(const platform::Panes* panes) {
    panes_.store(panes, std::memory_order_release);
  }
  static void clear() {
    bytes_.store(0, std::memory_order_release);
    panes_.store(nullptr, std::memory_order_release);
  }
  [[gnu::always_inline]] static bool contains(const void* address) {
    auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at - base_.load(std::memory_order_relaxed) < bytes_.load(std::memory_order_relaxed))
      return true;
    const platform::Panes* panes = panes_.load(std::memory_order_acquire);
    return panes != nullptr && panes->at_address(at) != nullptr;
  }
  static bool exists() { return bytes_.load(std::memory_order_relaxed) != 0; }

 private:
  static constinit inline std::atomic<std::uintptr_t> base_{0};
  static constinit inline std::atomic<std::uint64_t> bytes_{0};
  static constinit inline std::atomic<const platform::Panes*> panes_{nullptr};
};

}  // namespace terrane::frontend
