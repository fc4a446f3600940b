#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::protocol {

// A value that threads may read and change at any time without a lock. What they lose to each other
// is a guess.
template <typename T>
class Guess {
 public:
  Guess() = default;
  Guess(const Guess& other) : value_(T(other)) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  Guess& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  Guess& operator=(const Guess& other) { return *this = T(other); }

 private:
  std::atomic<T> value_{};
};

// What this node has seen of one block: the memory of all heuristics. Zeroed memory is no history.
// Lies beside the block's entry (steps/block_table.h), is known to src/protocol/predict/ alone, and
// is reset as a whole when the block's region is freed.
struct BlockHistory {
  // At a node that has or had a copy: the latest round in which it was missed or refreshed; in how
  // many on end it was missed, or shown to be used since; refreshes since that was last seen.
  Guess<std::uint32_t> round;
  Guess<std::uint8_t> missed;
  Guess<std::uint8_t> renewed;
  // How often it was prefetched since its own last miss, counted from 1; 0: it never was here.
  Guess<std::uint8_t> brought;
  // On probation: a stream prefetched it, and no thread has come for it since.
  Guess<bool> on_trial;
  // The acquire of a lock that dropped it, 0 after a miss; how often on end it was missed soon
  // afterwards.
  Guess<std::uint16_t> dropped;
  Guess<std::uint8_t> missed_after_locks;
  // Releases on end that found it written, and, while it is kept open, unchanged.
  Guess<std::uint8_t> written_on_end;
  Guess<std::uint8_t> same_on_end;
  // Writes of the values that were there: how many notices told of them, and how many more releases
  // tell of none.
  Guess<std::uint16_t> silent_skip;
  Guess<std::uint8_t> silent;

  // At the home: how often tracking was in vain, and for how many more requests it is not tried.
  Guess<std::uint8_t> track_failures;
  Guess<std::uint16_t> track_skip;
  // The round from which on it may be offered; how many offers our threads ended since it came, and
  // how many more are not made; whether a reader was given it.
  Guess<std::uint32_t> stays_until;
  Guess<std::uint8_t> offers_ended;
  Guess<std::uint8_t> offer_skip;
  Guess<bool> given;
};

}  // namespace terrane::protocol
