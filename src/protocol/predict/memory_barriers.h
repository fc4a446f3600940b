#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// In-memory barriers. A round that was not held costs some time, so the next ones are not tried,
// more of them each time. All nodes see the same rounds held, and count in the same way. For each
// barrier one thread of the node asks at a time.
class MemoryBarriers {
 public:
  explicit MemoryBarriers(const Past& past) : past_(past) {}

  bool tries(BarrierId id) {
    if (!past_.on(Heuristic::kMemoryBarrier) || id.value >= kBarriers) return false;
    Round& round = rounds_[id.value];
    if (round.skip == 0) return true;
    round.skip = static_cast<std::uint8_t>(round.skip - 1);
    return false;
  }
  // A few leases are refreshed in less time than messages take. Now and then a round goes by
  // messages, so that the homes of leases that no node writes track them.
  bool may_hold_leases(std::uint64_t blocks) {
    if (!past_.on(Heuristic::kMemoryBarrierWithLeases) ||
        blocks > past_.tunables.memory_barrier_leases)
      return false;
    std::uint32_t rounds = with_leases_.load(std::memory_order_relaxed) + 1;
    with_leases_.store(rounds, std::memory_order_relaxed);
    return rounds % past_.tunables.tells_wanted != 0;
  }
  void ended(BarrierId id, bool held) {
    if (id.value >= kBarriers) return;
    Round& round = rounds_[id.value];
    std::uint32_t next = held ? 0 : std::min(round.next_skip * 2u + 1, past_.tunables.most_unmet);
    if (!past_.on(Heuristic::kMemoryBarrierBackOff)) next = 0;
    round.next_skip = static_cast<std::uint8_t>(next);
    if (!held) round.skip = static_cast<std::uint8_t>(next);
  }

 private:
  static constexpr std::size_t kBarriers = 64;  // as many as can be held in memory
  struct Round {
    Guess<std::uint8_t> skip;       // how many more rounds go by messages
    Guess<std::uint8_t> next_skip;  // the back-off after the latest round; 0: it was held
  };

  const Past& past_;
  Round rounds_[kBarriers];
  std::atomic<std::uint32_t> with_leases_{0};
};

// The place for what is known of a lock, by bits of the lock's number.
inline constexpr std::size_t kLockPlaces = 1024;
inline std::size_t place(LockId lock) {
  return static_cast<std::size_t>((lock.value ^ lock.value >> 12 ^ lock.value >> 32) % kLockPlaces);
}

// Releases of locks are lazy, until a lock's token left this node several times in a row before any
// thread here took the lock again. Such a lock migrates, so its release may as well begin at once.
// By any thread at any time; some locks share a place.
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
  const Past& past_;
  Guess<std::uint8_t> left_[kLockPlaces];
};

// A turn is extended if threads of this node came back for the lock soon, several times in a row:
// they will come again, and a hand-over costs more than the other nodes' wait. How soon is measured
// in locks that this node asked for in between. Some locks share a place.
class LockTurns {
 public:
  explicit LockTurns(const Past& past) : past_(past) {}

  void asked(LockId lock) {
    std::uint32_t now = asked_.fetch_add(1, std::memory_order_relaxed) + 1;
    Turn& turn = turns_[place(lock)];
    bool soon = turn.given_back != 0 && now - turn.given_back <= past_.tunables.soon;
    if (!soon) turn.soon = 0;
    if (soon && turn.soon < past_.tunables.extend_after)
      turn.soon = static_cast<std::uint8_t>(turn.soon + 1);
  }
  // A thread gives the lock back. Result: how often the token may stay.
  std::uint32_t extends(LockId lock) {
    Turn& turn = turns_[place(lock)];
    turn.given_back = asked_.load(std::memory_order_relaxed);
    bool extends = past_.on(Heuristic::kExtendTurn) && turn.soon >= past_.tunables.extend_after;
    return extends ? past_.tunables.extends : 0;
  }

 private:
  struct Turn {
    Guess<std::uint32_t> given_back;  // `asked_` at that time; 0: never
    Guess<std::uint8_t> soon;         // returns in a row that were soon
  };

  const Past& past_;
  std::atomic<std::uint32_t> asked_{1};
  Turn turns_[kLockPlaces];
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
