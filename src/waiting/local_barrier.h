#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrane::waiting {

// A barrier of threads of one process, any number of rounds. Each caller names the number of all of
// them, which is the same in one round. What a thread wrote before it came is seen by all.
class LocalBarrier {
 public:
  // Waits until all have come.
  void wait(std::uint32_t threads);
  // For one of the threads, which then comes by release(): waits until all others wait.
  void gather(std::uint32_t threads);
  // The same, then tells the others something, and goes on together with them.
  void release(std::uint32_t threads, std::span<const std::byte> told);
  // For the others, after wait(): what the last release() has told, until they come again.
  std::span<const std::byte> told() const { return told_; }

 private:
  void end_round();

  alignas(64) std::atomic<std::uint32_t> came_{0};
  std::atomic<bool> is_gathering_{false};
  alignas(64) std::atomic<std::uint32_t> round_{0};
  std::vector<std::byte> told_;
};

}  // namespace terrane::waiting
