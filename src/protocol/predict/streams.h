#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/predict/tunables.h"

namespace terrane::protocol {

// Remembers where a node's latest misses ended: a miss that continues there is part of a sequential
// stream. Keeps a few streams at once, as two grids of a stencil and two threads make. Threads may
// call at any time: a lost change only makes a guess worse.
class Streams {
 public:
  Streams() {
    for (auto& next : next_) next.store(kNone, std::memory_order_relaxed);
  }
  // Whether a miss of this block continues where an earlier one ended.
  bool goes_on(std::uint64_t block) const { return length(block) > 0; }
  // How many blocks the stream has that a miss of this block continues; 0: it continues none.
  std::uint64_t length(std::uint64_t block) const {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      if (next_[slot].load(std::memory_order_relaxed) != block) continue;
      std::uint64_t first = first_[slot].load(std::memory_order_relaxed);
      return first < block ? block - first : 1;
    }
    return 0;
  }
  // The block up to which homes were asked for, in the stream that a miss of this block continues;
  // 0: none.
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
  // The first block of the latest request in the stream that a miss of this block continues; else
  // `block`.
  std::uint64_t latest_run(std::uint64_t block) const {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        return std::min(run_[slot].load(std::memory_order_relaxed), block);
    return block;
  }
  // A stream that was replaced by a new one.
  struct Ended {
    std::uint64_t used = 0;        // blocks from its first one to its latest miss; 0: no stream
    std::uint64_t prefetched = 0;  // blocks that its first miss fetched
  };
  // A miss of `block` fetched everything up to `end`; 0: no stream continues there, because another
  // allocation begins. Result: if this begins a stream, the one that it replaces.
  Ended note(std::uint64_t block, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      if (next_[slot].load(std::memory_order_relaxed) != block) continue;
      run_[slot].store(block, std::memory_order_relaxed);
      next_[slot].store(next_after(end), std::memory_order_relaxed);
      return {};
    }
    std::size_t slot = oldest_.fetch_add(1, std::memory_order_relaxed) % kStreams;
    std::uint64_t first = first_[slot].load(std::memory_order_relaxed);
    std::uint64_t latest = run_[slot].load(std::memory_order_relaxed);
    std::uint64_t prefetched = prefetched_[slot].load(std::memory_order_relaxed);
    Ended ended{prefetched != 0 && first <= latest ? latest + 1 - first : 0, prefetched};
    prefetched_[slot].store(end > block ? end - block : 0, std::memory_order_relaxed);
    first_[slot].store(block, std::memory_order_relaxed);
    run_[slot].store(block, std::memory_order_relaxed);
    asked_[slot].store(0, std::memory_order_relaxed);
    next_[slot].store(next_after(end), std::memory_order_relaxed);
    return ended;
  }
  // The latest request of the stream whose next block is `block` continues up to `end`; 0: as
  // above.
  void extend(std::uint64_t block, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot)
      if (next_[slot].load(std::memory_order_relaxed) == block)
        return next_[slot].store(next_after(end), std::memory_order_relaxed);
  }
  // Ends the streams whose next block is one of these.
  void forget(std::uint64_t first, std::uint64_t end) {
    for (std::size_t slot = 0; slot < kStreams; ++slot) {
      std::uint64_t next = next_[slot].load(std::memory_order_relaxed);
      if (first <= next && next <= end) next_[slot].store(kNone, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint64_t kNone = ~0ull;  // not 0, since a stream may begin there

  static std::uint64_t next_after(std::uint64_t end) { return end == 0 ? kNone : end; }

  std::atomic<std::uint64_t> first_[kStreams] = {};
  std::atomic<std::uint64_t> next_[kStreams];
  std::atomic<std::uint64_t> run_[kStreams] = {};
  std::atomic<std::uint64_t> asked_[kStreams] = {};
  std::atomic<std::uint64_t> prefetched_[kStreams] = {};
  std::atomic<std::size_t> oldest_{0};
};

}  // namespace terrane::protocol
