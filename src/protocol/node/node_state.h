#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "protocol/core/core.h"
#include "protocol/node/config.h"
#include "protocol/predict/predictor.h"
#include "protocol/steps/block_locks.h"
#include "protocol/steps/block_memory.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What all parts of the page protocol share at a node: the block table and its sets, counters, and
// the consistency lock, under which releases, invalidations and evictions of a node take turns.
// Faults do not take that lock: a block's entry and its bits in the sets belong to the operation
// that holds the block's lock.
class NodeState : public BlockLocks {
 public:
  static constexpr std::uint32_t kMaxRun = Server::kMaxRun;

  NodeState(const HlrcConfig& settings, const BlockMemory& memory, Core& the_core,
            Predictor& the_predictor);
  NodeState(const NodeState&) = delete;

  // The block becomes a copy; its lock is held.
  void add_cached(std::uint64_t block);
  // The block is no copy any more.
  void remove_cached(std::uint64_t block);
  // The block is no open copy any more. Needs no step: it counts as written until the next release
  // finds it written and protects it.
  void close(std::uint64_t block);
  // The block's home, which may move, is here, and has memory. Its lock is held.
  void add_home(std::uint64_t block);
  void remove_home(std::uint64_t block);
  // The copy is sealed, or is so no longer; its lock is held.
  void add_sealed(std::uint64_t block);
  void remove_sealed(std::uint64_t block);
  // The block is no copy any more, but its memory is still here.
  void add_idle(std::uint64_t block);
  void remove_idle(std::uint64_t block);
  // This node's home block is protected from now on, and its readers rely on notices.
  void track(std::uint64_t block);
  // Take and release the consistency lock.
  Task<> enter(Strand& s);
  Task<> leave(Strand& s);
  // This node's activity; kUnsettled while a thread holds the consistency lock. So all operations
  // that the result counts have ended.
  std::uint64_t settled_activity() const;
  // Appends the runs of copies within the range.
  void select_cached(std::vector<BlockRange>& runs, BlockRange within) const;
  // Takes the consistency lock, if it is free; waits for no thread. False: a thread holds it.
  bool try_enter();

  using BlockLocks::lock_block;
  using BlockLocks::unlock_block;

  // Whether there are copies that the next acquire drops although no notice names them.
  bool has_leases() const { return leases.next_run(0, config.blocks).count > 0; }
  // How many copies of other homes' blocks there are, also those in the making.
  std::uint64_t copies() const { return cached_count.load(std::memory_order_relaxed); }
  // Memory that may still be used, in blocks.
  std::uint64_t room() const {
    std::uint64_t used = used_ == nullptr ? 0 : used_->load(std::memory_order_relaxed);
    std::uint64_t limit = config.limit;
    return used < limit ? limit - used : 0;
  }
  bool is_adaptive(std::uint64_t block) const {
    return entries[block].propagation() == Propagation::kAdaptive;
  }
  // The end of this protocol's blocks; sc::Pages has those from here on.
  std::uint64_t end() const { return std::min(config.blocks, config.sc_first); }
  std::uint64_t most_of_run() const {
    return std::min<std::uint64_t>(config.tunables.max_run, kMaxRun);
  }
  // Whether a block enters the application view writable.
  bool enters_free(Access wanted) const {
    return wanted == Access::kWrite || !config.enters_protected;
  }
  // Whether this node can reach the other node's memory without messages.
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }
  // Whether this node stores in memory of that home itself.
  bool stores_at(NodeId home) const {
    bool sees = config.check_races && home != config.self;
    return reaches(home) && (!sees || mutant(Mutant::kCheckStoresDirectly));
  }
  bool scans() const { return config.detection == WriteDetection::kScan; }
  // The node that keeps the block's owner where homes are by first touch. `known`: a block of the
  // same allocation whose home was found.
  NodeId directory(std::uint64_t block, std::uint64_t known) const {
    return directory_of(block, core.clusters(), entries[known].directory());
  }

  // Changes how much memory this node may use, if it had a limit. Any thread; operations that run
  // find the one or the other.
  void bound(std::uint64_t limit, std::uint64_t reserve, std::uint64_t most_homes) {
    if (config_.limit == ~0ull) return;
    config_.limit = limit;
    config_.reserve = reserve;
    config_.most_homes = most_homes;
  }

 private:
  HlrcConfig config_;

 public:
  const HlrcConfig& config = config_;
  Core& core;
  Predictor& predictor;
  BlockEntry* const entries;

  BlockSet cached;  // copies of other homes' blocks, also those in the making
  // Copies that are written time after time: each release compares them with their twins, and does
  // not protect them.
  BlockSet open;
  BlockSet leases;   // copies that die at the next acquire
  BlockSet tracked;  // homes of this node that are protected, and whose readers rely on notices
  // With detection by fault: blocks written since the last release. By scan: homes that were taken
  // to be written, of which the next release gives notice.
  BlockSet written;
  BlockSet recent;   // copies entered or written since the clock hand passed them
  BlockSet idle;     // no copies any more, but their memory may still be here
  BlockSet leaving;  // homes that were offered, or have moved and left their memory here
  BlockSet spare;    // homes here that were copies, and whose twins may still be here
  BlockSet homes;    // homes here that may move, and that are not on offer
  // With detection by scan: copies that have no twin, because the first store to one faults.
  BlockSet sealed;

  std::atomic<std::uint32_t> open_count{0};
  std::atomic<std::uint64_t> cached_count{0};
  std::atomic<std::uint64_t> idle_count{0};
  std::atomic<std::uint64_t> home_count{0};
  std::atomic<std::uint64_t> sealed_count{0};
  std::atomic<std::uint64_t> dirty_count{0};  // grows with what the next release has to look for
  // The same for homes that faults have taken. A fault does not hold the consistency lock, so it
  // increments this after its other changes.
  std::atomic<std::uint64_t> taken{0};
  // Number of flushes, acquires and drops of this node; changes under the consistency lock.
  std::atomic<std::uint64_t> activity{0};
  // Number of acquires except barrier exits, of drops of regions, and of releases that sent an
  // expiry.
  std::atomic<std::uint64_t> acquired{0};

 private:
  const bool* reached_;                        // for each node; nullptr: all nodes are reached
  const std::atomic<std::uint64_t>* used_;     // blocks of memory in use; the host counts them
  std::atomic<std::uint32_t> consistency_{0};  // 0 free, 1 held, 2 held and waited for
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
