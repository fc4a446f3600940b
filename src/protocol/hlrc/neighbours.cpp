// Blocks that a miss prefetches: which, and how many, the predictor says.
#include <algorithm>

#include "protocol/hlrc/hlrc.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The run grows as the plan says, by the following blocks of the same home that are not here.
// Result: how many blocks the allocation has from the first one on; 0 where nobody has looked.
Task<std::uint64_t> Hlrc::extend_run(Strand& s, BlockRange& run, NodeId home, const MissPlan& plan,
                                     const MissUnderWay& under_way) {
  std::uint64_t most = std::min({plan.blocks, most_of_run(), end() - run.first});
  std::uint64_t extent = 0;
  if (plan.fresh) {  // not into another allocation, of which nothing is known
    Event ask = RegionExtent{BlockId{run.first}, s.waiter()};
    extent = co_await s.call(ask);
    most = std::min(most, extent);
  }
  co_await bring_more(s, run, home, plan.fresh, most, under_way);
  co_return extent;
}

// The run grows by what may come behind it, and has memory, up to `most` blocks.
Task<> Hlrc::bring_more(Strand& s, BlockRange& run, NodeId home, bool fresh, std::uint64_t most,
                        const MissUnderWay& under_way) {
  std::uint64_t had = run.count;
  while (run.count < most && room() >= 2 * (run.count + 1)) {
    bool bring = co_await may_bring(s, run.end(), home, fresh, under_way);
    if (!bring) break;
    mark(Mark::kFaultBringsNeighbour);
    ++run.count;
  }
  if (run.count == had) co_return;
  BlockRange more{run.first + had, run.count - had};
  bool backed = co_await s.perform(Populate{more});
  if (backed) co_return;
  mark(Mark::kFaultLeavesNeighbour);
  co_await leave_out(s, more);
  run.count = had;
}

// Locks the block and enters it among the copies, if it can come.
Task<bool> Hlrc::may_bring(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                           const MissUnderWay& under_way) {
  BlockEntry& entry = entries_[block];
  co_await s.pause();
  if (!entry.try_lock_now()) co_return false;
  bool good = entry.state() == BlockState::kInvalid;
  if (good) good = co_await is_known_home(s, block, home, fresh, under_way);
  if (!good) {
    co_await unlock_block(s, block, entry.state());
    co_return false;
  }
  leases_.insert(block);
  add_cached(block);
  predictor_.prefetches(block);
  co_return true;
}

// Whether this is the block's home; one that was never here is asked about where that costs
// nothing.
Task<bool> Hlrc::is_known_home(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                               const MissUnderWay& under_way) {
  BlockEntry& entry = entries_[block];
  if (fresh && entry.home() == kNoNode) {
    std::uint32_t owner = 0;
    if (under_way.names(block)) {
      mark(Mark::kFaultBringsAlike);
      owner = home.value + 1;
    } else if (reaches(directory(block))) {
      Owner found = co_await s.perform(LoadOwner{directory(block), BlockId{block}});
      owner = found.entry;
    }
    if (owner != home.value + 1) co_return false;
    mark(Mark::kFaultBringsNext);
    entry.set_home(home, entries_[block - 1].movable());
    entry.copy_policy(entries_[block - 1]);  // of the same allocation
  }
  if (entry.home() != home) co_return false;
  if (home != config_.self) co_return true;
  std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
  co_return word& kMoved;  // else it is here
}

// Blocks that were to come do not.
Task<> Hlrc::leave_out(Strand& s, BlockRange blocks) {
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    leases_.erase(b);
    remove_cached(b);
    if (entries_[b].home() == config_.self) leaving_.insert(b);
    if (entries_[b].home() != config_.self) add_idle(b);
    co_await unlock_block(s, b, BlockState::kInvalid);
  }
}

// After a miss: the predictor may prefetch what lies before the block, too.
Task<> Hlrc::bring_before(Strand& s, std::uint64_t block, MissUnderWay& under_way) {
  NodeId home = entries_[block].home();
  if (!config_.enters_protected || home == kNoNode || home == config_.self) co_return;
  std::uint64_t most = std::min({predictor_.prefetch_before(block), most_of_run() - 1, block});
  if (most == 0 || room() < 4) co_return;
  std::uint64_t first = block - most;
  Event ask = RegionExtent{BlockId{first}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  if (extent <= most) co_return;  // another allocation's, of which nothing is known
  home = co_await lock_unmissed(s, first, block, under_way);
  if (home == kNoNode) co_return;
  mark(Mark::kFaultBringsBefore);
  predictor_.prefetched_before({first, most});
  co_await fault_elsewhere(s, first, Access::kRead, home, most, under_way);
}

// Locks a block that is not here; the node to fetch it from. kNoNode, and not locked: it is better
// left alone. It is of the same allocation as the one that was missed.
Task<NodeId> Hlrc::lock_unmissed(Strand& s, std::uint64_t block, std::uint64_t missed,
                                 MissUnderWay& under_way) {
  co_await s.pause();
  BlockEntry& entry = entries_[block];
  if (!entry.try_lock_now()) co_return kNoNode;
  bool good = entry.state() == BlockState::kInvalid;
  if (good && entry.home() == kNoNode) {
    Owner owner = co_await ask_owner(s, block);
    under_way.same_owner = {block, owner.same};
    if (owner.entry != 0) entry.set_home(NodeId{owner.entry - 1}, true);
    if (owner.entry != 0) entry.copy_policy(entries_[missed]);
  }
  NodeId home = entry.home();
  if (good && home == config_.self) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
    good = word & kMoved;
  }
  if (good && home != kNoNode) co_return home;
  co_await unlock_block(s, block, entry.state());
  co_return kNoNode;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
