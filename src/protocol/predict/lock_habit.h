#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"

namespace terrane::protocol {

// Guesses whether the token of a lock that a thread gives back is about to leave this node. Then a
// release at once spares the next holder the time of the release; else a release would be in vain.
// Of locks that share a place in the table the guesses are mixed up. By any thread.
class LockHabit {
 public:
  // Whether a release is to be made when a thread gives the lock back.
  bool leaves(LockId lock) const {
    return at(lock).load(std::memory_order_relaxed) >= kLeavesInARow;
  }
  // The token left, and no thread of this node had taken the lock again.
  void left(LockId lock) {
    std::uint8_t seen = at(lock).load(std::memory_order_relaxed);
    if (seen < kLeavesInARow) at(lock).store(seen + 1, std::memory_order_relaxed);
  }
  // A thread of this node took the lock again before the token left.
  void reused(LockId lock) {
    std::uint8_t seen = at(lock).load(std::memory_order_relaxed);
    if (seen == 0) return;
    at(lock).store(seen >= kLeavesInARow ? kLeavesInARow - 1 : 0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kPlaces = 1024;
  static constexpr std::uint8_t kLeavesInARow = 2;

  std::atomic<std::uint8_t>& at(LockId lock) { return leaves_[lock.value % kPlaces]; }
  const std::atomic<std::uint8_t>& at(LockId lock) const { return leaves_[lock.value % kPlaces]; }

  std::atomic<std::uint8_t> leaves_[kPlaces] = {};
};

}  // namespace terrane::protocol
