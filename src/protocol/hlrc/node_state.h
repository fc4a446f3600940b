#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "protocol/core/core.h"
#include "protocol/hlrc/config.h"
#include "protocol/predict/predictor.h"
#include "protocol/steps/block_locks.h"
#include "protocol/steps/block_memory.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What all parts of the page protocol share at a node: the block table and its sets, counters of
// what happened, and the consistency lock, under which releases, invalidations and evictions of a
// node take turns. Faults do without that lock: an entry of the table and its bits in the sets
// belong to the operation that holds the block's lock.
class NodeState : public BlockLocks {
 public:
  static constexpr std::uint32_t kMaxRun = Server::kMaxRun;

  NodeState(const HlrcConfig& settings, const BlockMemory& memory, Core& the_core,
            Predictor& the_predictor);
  NodeState(const NodeState&) = delete;

  // The block becomes a copy; its lock is held.
  void add_cached(std::uint64_t block);
  // It is none any more.
  void remove_cached(std::uint64_t block);
  // The block is no open copy any more. Needs no step: it counts as written until the next release
  // has found it so, and protected it.
  void close(std::uint64_t block);
  // The block is no copy any more, and has left its memory here.
  void add_idle(std::uint64_t block);
  void remove_idle(std::uint64_t block);
  // Our home block is protected from now on, and its readers rely on notices.
  void track(std::uint64_t block);
  // The consistency lock.
  Task<> enter(Strand& s);
  Task<> leave(Strand& s);
  // This node's activity, if nothing that counts is just under way: a thread that has counted
  // before this looks has then ended, too.
  std::uint64_t settled_activity() const;
  // Appends the runs of copies within the range.
  void select_cached(std::vector<BlockRange>& runs, BlockRange within) const;
  // False: somebody has it. Waits for nobody.
  bool try_enter();

  using BlockLocks::lock_block;
  using BlockLocks::unlock_block;

  // Whether the acquire of a lock, or a barrier, drops a copy that no notice names.
  bool has_leases() const { return leases.next_run(0, config.blocks).count > 0; }
  // Copies of others' blocks, also those being made.
  std::uint64_t copies() const { return cached_count.load(std::memory_order_relaxed); }
  // Memory that may still be used, in blocks.
  std::uint64_t room() const {
    std::uint64_t used = used_ == nullptr ? 0 : used_->load(std::memory_order_relaxed);
    return used < config.limit ? config.limit - used : 0;
  }
  bool is_adaptive(std::uint64_t block) const {
    return entries[block].propagation() == Propagation::kAdaptive;
  }
  // Blocks from here on are sc::Pages'.
  std::uint64_t end() const { return std::min(config.blocks, config.sc_first); }
  std::uint64_t most_of_run() const {
    return std::min<std::uint64_t>(config.tunables.max_run, kMaxRun);
  }
  // Whether a block enters the application view writable.
  bool enters_free(Access wanted) const {
    return wanted == Access::kWrite || !config.enters_protected;
  }
  // Whether the node's memory can be reached.
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }
  bool scans() const { return config.detection == WriteDetection::kScan; }
  // The node that keeps the block's owner where homes are by first touch. `known`: a block of the
  // same allocation whose home was found.
  NodeId directory(std::uint64_t block, std::uint64_t known) const {
    return directory_of(block, core.clusters(), entries[known].directory());
  }

  const HlrcConfig config;
  Core& core;
  Predictor& predictor;
  BlockEntry* const entries;

  BlockSet cached;  // copies of others' blocks, also those being made
  // Copies that are written time after time: each release compares them, and nothing protects them.
  BlockSet open;
  BlockSet leases;   // of the copies, the ones that die at the next acquire
  BlockSet tracked;  // our home blocks that are protected and whose readers rely on notices
  BlockSet written;  // write detection by fault: blocks written since the last release; by scan:
                     // homes taken to be written, of which the next release gives notice
  BlockSet recent;   // copies that came, or were written, since the clock hand passed them
  BlockSet idle;     // no copies any more, and their memory may still be here
  BlockSet leaving;  // our homes that were offered, or have moved and left their memory here
  BlockSet spare;    // homes that were copies, and whose twins may still be here

  std::atomic<std::uint32_t> open_count{0};
  std::atomic<std::uint64_t> cached_count{0};
  std::atomic<std::uint64_t> idle_count{0};
  std::atomic<std::uint64_t> dirty_count{0};  // grows with what the next release has to look for
  // The same by faults, which do without the consistency lock: counted after all else.
  std::atomic<std::uint64_t> taken{0};
  // Flushes, acquires and drops of this node; changes under the consistency lock.
  std::atomic<std::uint64_t> activity{0};
  // Acquires but for departures, drops of regions, and releases that others have to be told of.
  std::atomic<std::uint64_t> acquired{0};

 private:
  const bool* reached_;
  const std::atomic<std::uint64_t>* used_;     // blocks of memory, by the host
  std::atomic<std::uint32_t> consistency_{0};  // 0 free, 1 held, 2 held and waited for
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
