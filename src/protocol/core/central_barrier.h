#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A barrier of nodes in a word that all of them reach: a central counter (Mellor-Crummey and Scott,
// ACM TOCS 9(1), 1991, section 3.1) for rounds that bring nobody anything. A round is held when all
// have come and none had something to tell; it is off as soon as one has, or will not wait any
// longer: then all of them meet by messages. The compare-and-swap by which one of these becomes
// true decides it for all. A view of the word, which is zero at first; by any thread of any node.
class CentralBarrier {
 public:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);  // also between processes
  static constexpr std::uint32_t kMostNodes = 128;
  static constexpr std::uint32_t kPlaces = 64;  // words of a job: the barriers of these numbers

  enum class Round : std::uint8_t { kOpen, kHeld, kOff };

  CentralBarrier(Word& word, std::uint32_t nodes) : word_(word), nodes_(nodes) {}

  // A node comes, once a round. told: how many departures' notices it has learned, if it has
  // nothing to tell; a round is held only where all have learned the same. Result: which round.
  std::uint64_t come(std::optional<std::uint32_t> told) {
    // A guess that fails brings the word's line here to be written, which a load would not.
    std::uint64_t was = 0;
    while (!word_.compare_exchange_weak(was, after(was, told), std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
    }
    return was >> kRound;
  }
  // For a node that has come to the round, until it comes to the next one.
  Round look(std::uint64_t round) const {
    return state(word_.load(std::memory_order_acquire), round);
  }
  // A node that has come will not wait any longer; never kOpen.
  Round withdraw(std::uint64_t round) {
    std::uint64_t was = word_.load(std::memory_order_acquire);
    while (state(was, round) == Round::kOpen &&
           !word_.compare_exchange_weak(was, was | kOffNow, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
    }
    return mutant(Mutant::kWithdrawsTooLate) ? Round::kOff : look(round);
  }

 private:
  // Bits from 0: what those who came have been told; how many came; whether this round is off;
  // whether the last one was; the number of the round.
  static constexpr std::uint64_t kCame = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kOffNow = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kWasOff = std::uint64_t{1} << 41;
  static constexpr int kRound = 42;

  static Round state(std::uint64_t word, std::uint64_t round) {
    bool off = (word >> kRound) != round ? word & kWasOff : word & kOffNow;
    if (off) return Round::kOff;
    return (word >> kRound) != round ? Round::kHeld : Round::kOpen;
  }
  std::uint64_t after(std::uint64_t word, std::optional<std::uint32_t> told) const {
    std::uint64_t came = word / kCame % (kOffNow / kCame);
    auto others = static_cast<std::uint32_t>(word);
    bool apart = came > 0 && told && others != *told && !mutant(Mutant::kMeetsApart);
    bool off = word & kOffNow || !told || apart;
    std::uint64_t round = word >> kRound << kRound;
    if (came + 1 < nodes_)
      return round | (word & kWasOff) | (off ? kOffNow : 0) | (came + 1) * kCame |
             told.value_or(others);
    return (round + (std::uint64_t{1} << kRound)) | (off ? kWasOff : 0);
  }

  Word& word_;
  std::uint32_t nodes_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
