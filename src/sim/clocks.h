#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/program.h"

namespace terrane::sim {

// For each thread, the number of its stores that happened before, or that are its own.
using Clock = std::array<std::uint16_t, kMaxThreads>;

// The happens-before order of a history: a vector clock for each thread, joined through locks and
// barriers.
class Clocks {
 public:
  void begin(std::uint32_t threads);

  const Clock& of(std::uint32_t thread) const { return threads_[thread]; }
  // Counts a store of the thread. Returns its number among the thread's stores.
  std::uint16_t tick(std::uint32_t thread) { return ++threads_[thread][thread]; }
  void release(std::uint32_t thread, std::uint32_t lock) { locks_[lock] = threads_[thread]; }
  void acquire(std::uint32_t thread, std::uint32_t lock) { join(threads_[thread], locks_[lock]); }
  // A fence joins what fences had told that ended before it began. begin_fence() says what that is.
  const Clock& begin_fence() const { return fenced_; }
  void end_fence(std::uint32_t thread, const Clock& told) {
    join(threads_[thread], told);
    join(fenced_, threads_[thread]);
  }
  // A thread enters a barrier that `all` threads enter. `barrier` is a barrier, or kMaxBarriers
  // plus the count of a rendezvous.
  void enter(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);
  // The thread has gathered before it enters the barrier: it sees what the others have done. False
  // if another thread has not entered.
  bool gather(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);
  // The thread leaves the barrier. False if not all have entered, which no barrier may allow.
  bool leave(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all);

 private:
  // One round of a barrier. No thread enters the round after the next before all have left this
  // one.
  struct Round {
    Clock clock{};
    std::uint32_t entered = 0;
  };

  void join(Clock& into, const Clock& from) const;

  std::uint32_t count_ = 0;
  Clock threads_[kMaxThreads];
  Clock locks_[kMaxLocks];
  Clock fenced_{};  // of all fences that have ended
  Round rounds_[kMaxBarriers + kMaxCounts][2];
  std::uint32_t round_of_[kMaxThreads][kMaxBarriers + kMaxCounts];
};

}  // namespace terrane::sim
