#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::protocol {

// A value that threads may read and change at any time without a lock. A lost change only makes a
// guess worse.
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

// What this node has seen of one block: the memory of all heuristics. Zeroed memory means no
// history. Stored beside the block's entry (steps/block_table.h), known to src/protocol/predict/
// alone, and reset as a whole when the block's region is freed.
struct BlockHistory {
  // At a node that has or had a copy:
  Guess<std::uint32_t> round;     // the latest round in which it was missed or refreshed
  Guess<std::uint8_t> missed;     // rounds in a row in which it was missed, or its use was shown
  Guess<std::uint8_t> refreshes;  // refreshes since its use was last seen
  // Prefetches since its own last miss, counted from 1; 0: it never was here.
  Guess<std::uint8_t> prefetched;
  // On probation: a stream prefetched it, and no use of it has been seen since.
  Guess<bool> on_probation;
  // The number of acquires of locks (Past::locks()) when one of them dropped it; 0 after a miss.
  Guess<std::uint16_t> dropped;
  // How often in a row it was missed soon after such a drop.
  Guess<std::uint8_t> missed_after_locks;
  // Releases in a row that found it written.
  Guess<std::uint8_t> written_in_a_row;
  // Releases in a row that found it unchanged while it was kept open.
  Guess<std::uint8_t> same_in_a_row;
  // Writes of the values that were there: how many more releases give no notice of them.
  Guess<std::uint16_t> silent_skip;
  Guess<std::uint8_t> silent;  // how many notices of such writes were given

  // At the home: how often it was written soon after it was tracked.
  Guess<std::uint8_t> track_failures;
  Guess<std::uint16_t> track_skip;   // how many more requests to track it are ignored
  Guess<std::uint8_t> kept_tracked;  // how often on end it stayed tracked although it was written
  // The round from which on it may be offered.
  Guess<std::uint32_t> stays_until;
  // How many of its offers threads of this node have ended since the home came here.
  Guess<std::uint8_t> offers_ended;
  Guess<std::uint8_t> offer_skip;  // how many more offers are not made
  Guess<bool> given_to_reader;     // it was offered to a node that only reads

  // When its copy was evicted last (HomesElsewhere::now()); 0: it was missed since, or never
  // evicted.
  Guess<std::uint8_t> evicted;
  // A thread of this node has changed a copy of it.
  Guess<bool> stored;
};

}  // namespace terrane::protocol
