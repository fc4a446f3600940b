#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace terrane::frontend {

// Where this process has shared memory: one part of the one Node behind the C interface that the
// functions in front of the C library's look at, so that a buffer elsewhere costs a comparison or
// two. None before terrane_init, after terrane_finalize, and in a child of fork.
class SharedRange {
 public:
  static constexpr std::size_t kMostPanes = 128;

  static void set(const void* base, std::uint64_t bytes) {
    base_.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
    bytes_.store(bytes, std::memory_order_release);
  }
  // One stretch more, which lies elsewhere: at most kMostPanes. False: there are so many already.
  // By one thread at a time.
  static bool add_pane(const void* base, std::uint64_t bytes) {
    std::size_t count = panes_.load(std::memory_order_relaxed);
    if (count == kMostPanes) return false;
    auto at = reinterpret_cast<std::uintptr_t>(base);
    pane_[count] = {at, bytes};
    if (count == 0 || at < first_) first_ = at;
    if (at + bytes > end_) end_ = at + bytes;
    panes_.store(count + 1, std::memory_order_release);
    return true;
  }
  static void clear() {
    bytes_.store(0, std::memory_order_release);
    panes_.store(0, std::memory_order_release);
  }
  [[gnu::always_inline]] static bool contains(const void* address) {
    auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at - base_.load(std::memory_order_relaxed) < bytes_.load(std::memory_order_relaxed))
      return true;
    std::size_t count = panes_.load(std::memory_order_acquire);
    return count != 0 && at >= first_ && at < end_ && is_in_pane(at, count);
  }
  static bool exists() { return bytes_.load(std::memory_order_relaxed) != 0; }

 private:
  struct Pane {
    std::uintptr_t base;
    std::uint64_t bytes;
  };
  [[gnu::always_inline]] static bool is_in_pane(std::uintptr_t at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (at - pane_[i].base < pane_[i].bytes) return true;
    return false;
  }
  static constinit inline std::atomic<std::uintptr_t> base_{0};
  static constinit inline std::atomic<std::uint64_t> bytes_{0};
  // Written before panes_ counts them; first_ and end_ hold all of them.
  static constinit inline std::array<Pane, kMostPanes> pane_{};
  static constinit inline std::uintptr_t first_ = 0, end_ = 0;
  static constinit inline std::atomic<std::size_t> panes_{0};
};

}  // namespace terrane::frontend
