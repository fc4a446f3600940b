#pragma once

#include <algorithm>
#include <cstddef>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// In-memory barriers: a round that was not held costs some time, so the next ones are not tried,
// ever more of them. All nodes see the same rounds held, and count alike. Of each barrier one
// thread of the node asks at a time.
class Meetings {
 public:
  explicit Meetings(const Past& past) : past_(past) {}

  bool tries(BarrierId id) {
    if (!past_.on(Heuristic::kMeet) || id.value >= kBarriers) return false;
    Round& round = rounds_[id.value];
    if (round.skip == 0) return true;
    round.skip = static_cast<std::uint8_t>(round.skip - 1);
    return false;
  }
  void met(BarrierId id, bool held) {
    if (id.value >= kBarriers) return;
    Round& round = rounds_[id.value];
    std::uint32_t next = held ? 0 : std::min(round.next_skip * 2u + 1, past_.tunables.most_unmet);
    if (!past_.on(Heuristic::kMeetBackOff)) next = 0;
    round.next_skip = static_cast<std::uint8_t>(next);
    if (!held) round.skip = static_cast<std::uint8_t>(next);
  }

 private:
  static constexpr std::size_t kBarriers = 64;  // as many as can be held in memory
  struct Round {
    Guess<std::uint8_t> skip;       // rounds that go by messages yet
    Guess<std::uint8_t> next_skip;  // ... after the latest one that was not held
  };

  const Past& past_;
  Round rounds_[kBarriers];
};

// Releases of locks are lazy, until a lock's token left this node several times on end before any
// thread here took the lock again: such a lock migrates, and its release may as well begin at once.
// By any thread at any time; locks whose numbers agree in their lowest bits share a place.
class LockReleases {
 public:
  explicit LockReleases(const Past& past) : past_(past) {}

  bool at_once(LockId lock) const {
    if (!past_.on(Heuristic::kLazyRelease)) return true;
    return left_[place(lock)] >= past_.tunables.left_unused;
  }
  void left(LockId lock) {
    Guess<std::uint8_t>& count = left_[place(lock)];
    if (count < past_.tunables.left_unused) count = static_cast<std::uint8_t>(count + 1);
  }
  void reused(LockId lock) {
    Guess<std::uint8_t>& count = left_[place(lock)];
    if (count == 0) return;
    std::uint32_t most = past_.tunables.left_unused;
    count = static_cast<std::uint8_t>(count >= most ? most - 1 : 0);
  }

 private:
  static constexpr std::size_t kPlaces = 1024;

  static std::size_t place(LockId lock) {
    return static_cast<std::size_t>((lock.value ^ lock.value >> 12 ^ lock.value >> 32) % kPlaces);
  }

  const Past& past_;
  Guess<std::uint8_t> left_[kPlaces];
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
