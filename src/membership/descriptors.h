#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace terrane::membership {

// The descriptors that are Terrane's own in this process, whichever of its libraries has opened
// them. A program that closes descriptors it knows nothing of (a daemon that starts, closefrom,
// close_range, dup2) keeps these: without them pages would read as zeros, and what is meant for the
// job would be written to the program's next file. Any thread; usable before constructors run.
class Descriptors {
 public:
  void own(int fd) noexcept;
  void give_up(int fd) noexcept;
  // Not in a child of the process, which may close what it has inherited.
  bool owns(int fd) const noexcept;
  // The first one from `fd` on, up to `last`.
  std::optional<int> first_from(unsigned fd, unsigned last) const noexcept;

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // what the kernel allows by default
  std::array<std::atomic<std::uint64_t>, kMost / 64> words_{};
  std::atomic<int> process_{0};
};

}  // namespace terrane::membership
