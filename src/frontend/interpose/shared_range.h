#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::frontend {

// Where this process has shared memory: one part of the one Node behind the C interface that the
// functions in front of the C library's look at, so that a buffer elsewhere costs a comparison.
// None before terrane_init, after terrane_finalize, and in a child of fork.
class SharedRange {
 public:
  static void set(const void* base, std::uint64_t bytes) {
    base_.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
    bytes_.store(bytes, std::memory_order_release);
  }
  static void clear() { bytes_.store(0, std::memory_order_release); }
  static bool contains(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - base_.load(std::memory_order_relaxed) <
           bytes_.load(std::memory_order_relaxed);
  }
  static bool exists() { return bytes_.load(std::memory_order_relaxed) != 0; }

 private:
  static constinit inline std::atomic<std::uintptr_t> base_{0};
  static constinit inline std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace terrane::frontend
