#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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
  // What node 0 tells all with a round, in the same memory: a place for even rounds and one for odd
  // ones. A node that comes to a round has read what was told with those before.
  struct alignas(64) Told {
    std::uint32_t bytes = 0;
    std::byte data[252];
  };
  static constexpr std::size_t kMostTold = sizeof Told::data;

  CentralBarrier(Word& word, std::uint32_t nodes, Told* told = nullptr)
      : word_(word), nodes_(nodes), told_(told) {}

  // By node 0 before it comes, in each round with which it may tell something: at most kMostTold.
  void tell(std::span<const std::byte> bytes) {
    Told& place = told_[(word_.load(std::memory_order_relaxed) >> kRound) % 2];
    if (bytes.empty() && (place.bytes == 0 || mutant(Mutant::kForkKeepsPayload))) return;
    place.bytes = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), place.data);
  }
  // After a round was held, until this node comes to the next one.
  std::span<const std::byte> told(std::uint64_t round) const {
    const Told& place = told_[round % 2];
    return {place.data, place.bytes};
  }

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
  // For a node that has not come to the round that is open: kHeld if all others have, none has
  // anything to tell, and all have learned as many departures' notices as this one, `told`. They
  // wait, or go on by messages, until it comes.
  Round others(std::uint32_t told) const {
    std::uint64_t was = word_.load(std::memory_order_acquire);
    if (was & kOffNow) return Round::kOff;
    if (was / kCame % (kOffNow / kCame) + 1 < nodes_) return Round::kOpen;
    bool same = static_cast<std::uint32_t>(was) == told || mutant(Mutant::kGatherApart);
    return same ? Round::kHeld : Round::kOff;
  }
  // That node will not wait for the others any longer, or has learned other notices: unless kHeld,
  // the round is off, and the others need not wait for it either.
  Round give_up_others(std::uint32_t told) {
    std::uint64_t was = word_.load(std::memory_order_acquire);
    while (others(told) != Round::kHeld && (was & kOffNow) == 0 &&
           !word_.compare_exchange_weak(was, was | kOffNow, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
    }
    return others(told);
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
  Told* told_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
