#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/program.h"

namespace terrane::sim {

// For each thread, how many of its stores happened before (or are its own).
using Clock = std::array<std::uint16_t, kMaxThreads>;

// What happened before what in a history: a vector clock a thread, joined through locks and
// barriers.
class Clocks {
 public:
  void begin(std::uint32_t threads);

  const Clock& of(std::uint32_t thread) const { return threads_[thread]; }
  // A store; its number among the thread's.
  std::uint16_t tick(std::uint32_t thread) { return ++threads_[thread][thread]; }
  void release(std::uint32_t thread, std::uint32_t lock) { locks_[lock] = threads_[thread]; }
  void acquire(std::uint32_t thread, std::uint32_t lock) { join(threads_[thread], locks_[lock]); }
  // A thread comes to a barrier that `all` threads enter. Counts where threads meet follow the
  // barriers.
  void enter(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);
  // It has gathered before it enters: it sees what the others have done; false when one of them has
  // not come.
  bool gather(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);
  // It leaves; false when not all have come, which no barrier may allow.
  bool leave(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);

 private:
  // One round of a barrier. Nobody enters the next round but one before all have left this one.
  struct Round {
    Clock clock{};
    std::uint32_t entered = 0;
  };

  void join(Clock& into, const Clock& from) const;

  std::uint32_t count_ = 0;
  Clock threads_[kMaxThreads];
  Clock locks_[kMaxLocks];
  Round rounds_[kMaxBarriers + kMaxCounts][2];
  std::uint32_t round_of_[kMaxThreads][kMaxBarriers + kMaxCounts];
};

}  // namespace terrane::sim
