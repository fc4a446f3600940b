#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace terrane::runtime {

// The blocks below stacks in shared memory. An access to one of them is an overflow of the stack
// above it. Any thread may call, also in a fault handler.
class StackGuards {
 public:
  static constexpr std::size_t kMost = 1024;  // more are not watched

  void add(std::uint64_t block) {
    std::size_t place = count_.fetch_add(1);
    if (place < kMost) blocks_[place].store(block + 1, std::memory_order_release);
  }
  bool contains(std::uint64_t block) const {
    std::size_t count = std::min(count_.load(std::memory_order_acquire), kMost);
    for (std::size_t i = 0; i < count; ++i)
      if (blocks_[i].load(std::memory_order_acquire) == block + 1) return true;
    return false;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kMost> blocks_{};  // block + 1; 0: no entry yet
  std::atomic<std::size_t> count_{0};
};

}  // namespace terrane::runtime
