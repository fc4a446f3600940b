#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "protocol/steps/block_set.h"
#include "wire/region_policy.h"

namespace terrane::protocol {

// Where a block stands at this node (design: docs/design/architecture.md).
enum class BlockState : std::uint32_t {
  kInvalid = 0,  // not in the application view
  kClean = 1,    // a copy; with write detection by scan it may be written, the scan will tell
  kWritten = 2,  // a copy with a twin, written since the last release (write detection by fault)
  kHome = 3,     // this node is its home, and it is in the application view
};

// One block's entry: the state word, which is also the block's lock (BUSY), and its home once
// known. Zeroed memory is an empty table. Only the holder of BUSY changes an entry, but
// for what says otherwise.
class BlockEntry {
 public:
  static constexpr std::uint32_t kBusy = 4;
  static constexpr std::uint32_t kWaited = 8;  // somebody sleeps on the word
  static constexpr std::uint32_t kMostDirectory = 31;

  std::atomic<std::uint32_t>& word() { return word_; }

  // Takes the lock, or leaves in `seen` the value to wait on.
  bool try_lock(std::uint32_t& seen) {
    seen = word_.load(std::memory_order_relaxed);
    while (!(seen & kBusy)) {
      if (word_.compare_exchange_weak(seen, seen | kBusy, std::memory_order_acquire)) return true;
    }
    if (!(seen & kWaited)) {
      if (!word_.compare_exchange_strong(seen, seen | kWaited, std::memory_order_relaxed))
        return try_lock(seen);
      seen |= kWaited;
    }
    return false;
  }
  // Takes the lock if it is free; leaves no trace otherwise.
  bool try_lock_now() {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    return !(seen & kBusy) &&
           word_.compare_exchange_strong(seen, seen | kBusy, std::memory_order_acquire);
  }
  BlockState state() const {
    return static_cast<BlockState>(word_.load(std::memory_order_relaxed) & 3);
  }
  // For a thread without the lock: what the last holder changed is seen with the state.
  BlockState settled_state() const {
    return static_cast<BlockState>(word_.load(std::memory_order_acquire) & 3);
  }
  bool busy() const { return word_.load(std::memory_order_relaxed) & kBusy; }
  // Gives the lock back with a new state; true when somebody sleeps and has to be woken.
  bool unlock(BlockState state) {
    return word_.exchange(static_cast<std::uint32_t>(state), std::memory_order_release) & kWaited;
  }

  NodeId home() const { return NodeId{(home_bits() & kHome) - 1}; }  // kNoNode: not known
  // movable: at the home, whether it may be given to another node.
  void set_home(NodeId home, bool movable = false) {
    if (home != this->home()) version.store(0, std::memory_order_relaxed);
    set_bits((home_bits() & kPolicy) | ((home.value + 1) & kHome) | (movable ? kMovable : 0));
  }
  // Its region was freed, and this node has not learned of a home since.
  void mark_dropped() {
    version.store(0, std::memory_order_relaxed);
    set_bits((home_bits() & kPolicy) | kDropped);
  }
  // Whether `self`, which has this entry, may be the home: it knows so, or the region's policy says
  // so, which it has had no reason to look up.
  bool may_be_home(NodeId self) const {
    return home() == self || (home() == kNoNode && !(home_bits() & kDropped));
  }
  bool movable() const { return home_bits() & kMovable; }

  // What the block's region wants, once it is known; the default before. directory: who keeps the
  // owners of its blocks (found_region.h), at most kMostDirectory.
  void set_policy(wire::Protocol protocol, wire::Propagation propagation, std::uint32_t directory) {
    set_bits((home_bits() & ~kPolicy) | static_cast<std::uint32_t>(propagation) << kPropagationAt |
             directory << kDirectoryAt | (protocol == wire::Protocol::kErc ? kEager : 0));
  }
  void copy_policy(const BlockEntry& other) {
    set_bits((home_bits() & ~kPolicy) | (other.home_bits() & kPolicy));
  }
  wire::Propagation propagation() const {
    return static_cast<wire::Propagation>(home_bits() >> kPropagationAt & 3);
  }
  bool eager() const { return home_bits() & kEager; }
  std::uint32_t directory() const { return (home_bits() & kDirectory) >> kDirectoryAt; }

  // The version of the news of its home (sent_pushes.h) that a copy is, but for what this node
  // wrote since and has not brought home; 0: of none.
  std::atomic<std::uint32_t> version{0};

 private:
  std::uint32_t home_bits() const { return home_.load(std::memory_order_relaxed); }
  void set_bits(std::uint32_t bits) { home_.store(bits, std::memory_order_relaxed); }

  static constexpr std::uint32_t kMovable = 1u << 31;
  static constexpr std::uint32_t kEager = 1u << 30;
  static constexpr std::uint32_t kPropagationAt = 28;
  static constexpr std::uint32_t kDropped = 1u << 27;
  static constexpr std::uint32_t kDirectoryAt = 22;
  static constexpr std::uint32_t kDirectory = kMostDirectory << kDirectoryAt;
  static constexpr std::uint32_t kPolicy = kEager | 3u << kPropagationAt | kDirectory;
  static constexpr std::uint32_t kHome = (1u << kDirectoryAt) - 1;  // a node + 1

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> home_{0};  // also looked at without the lock, for a guess
};

}  // namespace terrane::protocol
