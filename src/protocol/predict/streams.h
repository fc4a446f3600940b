#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/predict/tunables.h"

namespace terrane::protocol {

// Where a node's latest misses ended, so that one that goes on there is seen to read in order. A
// few streams at once, as two grids of a stencil and two threads make. Threads may call at any
// time: what they lose to each other is a guess.
class Streams {
 public:
  Streams() {
    for (auto& next : next_) next.store(kNone, std::memory_order_relaxed);
  }
  // Whether a miss of this block goes on where an earlier one ended.
  bool goes_on(std::uint64_t block) const { return length(block) > 0; }
  // How many blocks the stream has that a miss of this one goes on with; 0: none does.
  std::uint64_t length(std::uint64_t block) const {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      if (next_[slot].load(std::memory_order_relaxed) != block) continue;
      std::uint64_t first = first_[slot].load(std::memory_order_relaxed);
      return first < block ? block - first : 1;
    }
    return 0;
  }
  // Up to which block the stream that a miss of this one goes on with has been asked for; 0: not.
  std::uint64_t asked(std::uint64_t block) const {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        return asked_[slot].load(std::memory_order_relaxed);
    return 0;
  }
  void note_asked(std::uint64_t block, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        asked_[slot].store(end, std::memory_order_relaxed);
  }
  // Where the latest run of the stream begins that a miss of this one goes on with; else `block`.
  std::uint64_t latest_run(std::uint64_t block) const {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        return std::min(run_[slot].load(std::memory_order_relaxed), block);
    return block;
  }
  // A stream that is forgotten for a new one.
  struct Over {
    std::uint64_t used = 0;     // from its first block to its latest miss; 0: there was none
    std::uint64_t brought = 0;  // by its first miss
  };
  // A miss of `block` brought everything up to `end`; 0: nothing goes on behind that, for another
  // allocation begins there. Result: the stream that this ends, if it begins one.
  Over note(std::uint64_t block, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      if (next_[slot].load(std::memory_order_relaxed) != block) continue;
      run_[slot].store(block, std::memory_order_relaxed);
      next_[slot].store(next_after(end), std::memory_order_relaxed);
      return {};
    }
    std::size_t slot = oldest_.fetch_add(1, std::memory_order_relaxed) % kStreams;
    std::uint64_t first = first_[slot].load(std::memory_order_relaxed);
    std::uint64_t latest = run_[slot].load(std::memory_order_relaxed);
    std::uint64_t brought = brought_[slot].load(std::memory_order_relaxed);
    Over over{brought != 0 && first <= latest ? latest + 1 - first : 0, brought};
    brought_[slot].store(end > block ? end - block : 0, std::memory_order_relaxed);
    first_[slot].store(block, std::memory_order_relaxed);
    run_[slot].store(block, std::memory_order_relaxed);
    asked_[slot].store(0, std::memory_order_relaxed);
    next_[slot].store(next_after(end), std::memory_order_relaxed);
    return over;
  }
  // What the latest miss of the stream that stands at `block` brought goes on up to `end`; 0: as
  // above.
  void extend(std::uint64_t block, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        return next_[slot].store(next_after(end), std::memory_order_relaxed);
  }
  // Streams that stand in these blocks are over.
  void forget(std::uint64_t first, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      std::uint64_t next = next_[slot].load(std::memory_order_relaxed);
      if (first <= next && next <= end) next_[slot].store(kNone, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint64_t kNone = ~0ull;  // not 0, where a stream may begin

  static std::uint64_t next_after(std::uint64_t end) { return end == 0 ? kNone : end; }

  std::atomic<std::uint64_t> first_[kStreams] = {};
  std::atomic<std::uint64_t> next_[kStreams];
  std::atomic<std::uint64_t> run_[kStreams] = {};
  std::atomic<std::uint64_t> asked_[kStreams] = {};
  std::atomic<std::uint64_t> brought_[kStreams] = {};
  std::atomic<std::size_t> oldest_{0};
};

}  // namespace terrane::protocol
