#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "protocol/steps/block_set.h"
#include "wire/region_policy.h"

namespace terrane::protocol {

// The state of a block at this node (docs/design/coherence.md).
enum class BlockState : std::uint32_t {
  kInvalid = 0,  // not in the application view
  kClean = 1,    // a copy; with detection by scan it may be written, and the next scan finds out
  kWritten = 2,  // a copy with a twin, written since the last release (detection by fault)
  kHome = 3,     // this node is its home, and it is in the application view
};

// A block's entry: the state word, which is also the block's lock (BUSY); its home, if known; the
// policy of its region. Zeroed memory is an empty table. Only the holder of BUSY changes an entry,
// except where a comment says otherwise.
class BlockEntry {
 public:
  static constexpr std::uint32_t kBusy = 4;
  static constexpr std::uint32_t kWaited = 8;  // a thread sleeps on the word
  static constexpr std::uint32_t kMostDirectory = 31;

  std::atomic<std::uint32_t>& word() { return word_; }

  // Takes the lock, or stores in `seen` the value to wait on.
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
  // Takes the lock if it is free; changes nothing otherwise.
  bool try_lock_now() {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    return !(seen & kBusy) &&
           word_.compare_exchange_strong(seen, seen | kBusy, std::memory_order_acquire);
  }
  BlockState state() const {
    return static_cast<BlockState>(word_.load(std::memory_order_relaxed) & 3);
  }
  // For a thread without the lock: it sees what the last holder changed before it set the state.
  BlockState settled_state() const {
    return static_cast<BlockState>(word_.load(std::memory_order_acquire) & 3);
  }
  bool busy() const { return word_.load(std::memory_order_relaxed) & kBusy; }
  // Releases the lock with a new state; true if a thread sleeps on the word and has to be woken.
  bool unlock(BlockState state) {
    return word_.exchange(static_cast<std::uint32_t>(state), std::memory_order_release) & kWaited;
  }

  NodeId home() const { return NodeId{(home_bits() & kHome) - 1}; }  // kNoNode: not known
  // movable: on the entry of the home: the home may be given to another node.
  void set_home(NodeId home, bool movable = false) {
    if (home != this->home()) version.store(0, std::memory_order_relaxed);
    set_bits((home_bits() & (kPolicy | kSynchronises)) | ((home.value + 1) & kHome) |
             (movable ? kMovable : 0));
  }
  // The block's region was freed, and this node has not learned a new home since.
  void mark_dropped() {
    version.store(0, std::memory_order_relaxed);
    set_bits((home_bits() & kPolicy) | kDropped);
  }
  // Whether the owner of this entry, node `self`, may be the block's home: it knows that it is, or
  // the region's policy may say so, which it has had no reason to look up.
  bool may_be_home(NodeId self) const {
    return home() == self || (home() == kNoNode && !(home_bits() & kDropped));
  }
  bool movable() const { return home_bits() & kMovable; }
  // Whether the block is a synchronisation page, which protocol/sc serves. Any thread may ask; it
  // stays one until its region is freed.
  bool synchronises() const { return home_.load(std::memory_order_acquire) & kSynchronises; }
  // Under the block's lock. `home`: for good.
  void set_synchronises(NodeId home) {
    version.store(0, std::memory_order_relaxed);
    home_.store((home_bits() & kPolicy) | ((home.value + 1) & kHome) | kSynchronises,
                std::memory_order_release);
  }

  // The policy of the block's region, once it is known; defaults before. directory: which nodes
  // keep the owners of its blocks (found_region.h), at most kMostDirectory.
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

  // Where a debugger finds it in an entry, in bytes (runtime/debugged_memory.h): the word whose
  // lowest two bits are the state; the word with the home + 1, and the bit of a synchronisation
  // page.
  struct Layout {
    std::uint32_t state_at, home_at, home_mask, synchronises;
  };
  Layout layout() const {
    auto at = [this](const auto& member) {
      return static_cast<std::uint32_t>(reinterpret_cast<const char*>(&member) -
                                        reinterpret_cast<const char*>(this));
    };
    return {at(word_), at(home_), kHome, kSynchronises};
  }

  // The version of its home's push (sent_pushes.h) whose bytes this copy has, apart from local
  // writes that are not flushed; 0: none.
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
  static constexpr std::uint32_t kSynchronises = 1u << 21;
  static constexpr std::uint32_t kHome = kSynchronises - 1;  // 1 + the number of the node

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> home_{0};  // other threads may load it without the lock, as a guess
};

}  // namespace terrane::protocol
