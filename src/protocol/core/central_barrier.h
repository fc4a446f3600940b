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

// An in-memory barrier: nodes count themselves in a word that all of them reach. It is a central
// counter (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 3.1), for rounds in which no node
// has notices or values for the others. A round is held when all nodes have come and none has
// something to report. It is off as soon as one node has something to report, or does not wait any
// longer; then all use the barrier by messages. Each outcome is one compare-and-swap, which decides
// for all nodes. The object is a view of the word, which is zero at first; any thread of any node
// may call it.
class CentralBarrier {
 public:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);  // also between processes
  static constexpr std::uint32_t kMostNodes = 128;
  static constexpr std::uint32_t kPlaces = 64;  // words of a job: barriers 0 to 63

  enum class Round : std::uint8_t { kOpen, kHeld, kOff };
  // What node 0 broadcasts with a round, in the same memory: one place for even rounds and one for
  // odd rounds. A node that comes to a round has read what was broadcast in earlier ones.
  struct alignas(64) Told {
    std::uint32_t bytes = 0;
    std::byte data[252];
  };
  static constexpr std::size_t kMostTold = sizeof Told::data;

  CentralBarrier(Word& word, std::uint32_t nodes, Told* told = nullptr)
      : word_(word), nodes_(nodes), told_(told) {}

  // By node 0, in each round with which it may broadcast something, before it comes: at most
  // kMostTold bytes.
  void tell(std::span<const std::byte> bytes) {
    Told& place = told_[(word_.load(std::memory_order_relaxed) >> kRound) % 2];
    if (bytes.empty() && (place.bytes == 0 || mutant(Mutant::kForkKeepsPayload))) return;
    place.bytes = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), place.data);
  }
  // What node 0 broadcast with a round that was held. Valid until this node comes to the next
  // round.
  std::span<const std::byte> told(std::uint64_t round) const {
    const Told& place = told_[round % 2];
    return {place.data, place.bytes};
  }

  // A node comes to a round, once a round. `told`: the number of barrier exits whose notices the
  // node has learned, or nothing if it has something to report. A round is held only if all nodes
  // give the same number. Result: the number of the round.
  std::uint64_t come(std::optional<std::uint32_t> told) {
    // The first value is a guess. If it fails, the processor has fetched the word's cache line for
    // writing, which a load would not do.
    std::uint64_t was = 0;
    while (!word_.compare_exchange_weak(was, after(was, told), std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
    }
    return was >> kRound;
  }
  // For a node that has not come to the open round. kHeld: all other nodes have come, none has
  // something to report, and all have learned the notices of `told` barrier exits, as this node
  // has. Then they wait, or go on by messages, until this node comes.
  Round others(std::uint32_t told) const {
    std::uint64_t was = word_.load(std::memory_order_acquire);
    if (was & kOffNow) return Round::kOff;
    if (was / kCame % (kOffNow / kCame) + 1 < nodes_) return Round::kOpen;
    bool same = static_cast<std::uint32_t>(was) == told || mutant(Mutant::kGatherApart);
    return same ? Round::kHeld : Round::kOff;
  }
  // By that node, when it does not wait for the others any longer, or has learned other notices.
  // Unless the answer is kHeld, the round is off, and the others need not wait for this node
  // either.
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
  // A node that has come does not wait any longer. The result is never kOpen.
  Round withdraw(std::uint64_t round) {
    std::uint64_t was = word_.load(std::memory_order_acquire);
    while (state(was, round) == Round::kOpen &&
           !word_.compare_exchange_weak(was, was | kOffNow, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
    }
    return mutant(Mutant::kWithdrawsTooLate) ? Round::kOff : look(round);
  }

 private:
  // The word, from bit 0: the number that the nodes gave in come(); how many nodes came; whether
  // this round is off; whether the last round was off; the number of this round.
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
    bool apart = came > 0 && told && others != *told && !mutant(Mutant::kInMemoryApart);
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
