#include <algorithm>

#include "protocol/hlrc/misses.h"

// Blocks that a miss prefetches. The predictor says which, and how many.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Extends the run, as the plan says, by the following blocks of the same home that are not here.
// Result: how many blocks the allocation has from the first one on; 0 if that was not looked up.
Task<std::uint64_t> Misses::extend_run(Strand& s, BlockRange& run, NodeId home,
                                       const MissPlan& plan, const MissUnderWay& under_way) {
  std::uint64_t most = std::min({plan.blocks, node_.most_of_run(), node_.end() - run.first});
  std::uint64_t extent = 0;
  if (plan.fresh) {  // not into another allocation, of which nothing is known
    Event ask = RegionExtent{BlockId{run.first}, s.waiter()};
    extent = co_await s.call(ask);
    most = std::min(most, extent);
  }
  co_await prefetch_more(s, run, home, plan.fresh, most, under_way);
  co_return extent;
}

// Whether there is memory for so many copies and, unless they enter sealed, their twins.
bool Misses::has_room(std::uint64_t blocks, const MissUnderWay& under_way) const {
  return node_.room() >= (under_way.seals ? blocks : 2 * blocks);
}

// Extends the run, up to `most` blocks, by those that may be prefetched and have memory.
Task<> Misses::prefetch_more(Strand& s, BlockRange& run, NodeId home, bool fresh,
                             std::uint64_t most, const MissUnderWay& under_way) {
  std::uint64_t had = run.count;
  while (run.count < most && has_room(run.count + 1, under_way)) {
    bool bring = co_await may_prefetch(s, run.end(), home, fresh, under_way);
    if (!bring) break;
    mark(Mark::kFaultPrefetchesNeighbour);
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

// Locks the block and enters it among the copies, if it may be prefetched.
Task<bool> Misses::may_prefetch(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                                const MissUnderWay& under_way) {
  BlockEntry& entry = node_.entries[block];
  co_await s.pause();
  if (!entry.try_lock_now()) co_return false;
  bool synchronises = entry.synchronises() && !mutant(Mutant::kPrefetchSynchronises);
  bool good = entry.state() == BlockState::kInvalid && !synchronises;
  if (good) good = co_await is_known_home(s, block, home, fresh, under_way);
  if (!good) {
    co_await node_.unlock_block(s, block, entry.state());
    co_return false;
  }
  node_.leases.insert(block);
  node_.add_cached(block);
  node_.predictor.prefetches(block);
  co_return true;
}

// Whether `home` is the block's home. The owner of a block that was never here is looked up if that
// costs no message.
Task<bool> Misses::is_known_home(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                                 const MissUnderWay& under_way) {
  BlockEntry& entry = node_.entries[block];
  if (fresh && entry.home() == kNoNode) {
    NodeId directory = node_.directory(block, block - 1);
    std::uint32_t owner = 0;
    if (under_way.names(block)) {
      mark(Mark::kFaultKnowsOwner);
      owner = home.value + 1;
    } else if (node_.reaches(directory)) {
      Owner found = co_await s.perform(LoadOwner{directory, BlockId{block}});
      owner = found.entry;
    }
    if (owner != home.value + 1) co_return false;
    mark(Mark::kFaultPrefetchesNext);
    entry.set_home(home, node_.entries[block - 1].movable());
    entry.copy_policy(node_.entries[block - 1]);  // of the same allocation
  }
  if (entry.home() != home) co_return false;
  if (home != node_.config.self) co_return true;
  std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
  co_return word& kMoved;  // if not, the block is here
}

// Blocks that were to be prefetched did not come.
Task<> Misses::leave_out(Strand& s, BlockRange blocks) {
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    node_.leases.erase(b);
    node_.remove_cached(b);
    if (node_.entries[b].home() == node_.config.self) node_.leaving.insert(b);
    if (node_.entries[b].home() != node_.config.self) node_.add_idle(b);
    co_await node_.unlock_block(s, b, BlockState::kInvalid);
  }
}

Task<> Misses::prefetch_before(Strand& s, std::uint64_t block, MissUnderWay& under_way) {
  NodeId home = node_.entries[block].home();
  if (!node_.config.enters_protected || home == kNoNode || home == node_.config.self) co_return;
  std::uint64_t most =
      std::min({node_.predictor.prefetch_before(block), node_.most_of_run() - 1, block});
  if (most == 0 || node_.room() < 4) co_return;
  std::uint64_t first = block - most;
  Event ask = RegionExtent{BlockId{first}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  if (extent <= most) co_return;  // another allocation, of which nothing is known
  home = co_await lock_unmissed(s, first, block, under_way);
  if (home == kNoNode) co_return;
  mark(Mark::kFaultPrefetchesBefore);
  node_.predictor.prefetched_before({first, most});
  co_await fault_elsewhere(s, first, Access::kRead, home, most, under_way);
}

// Locks a block that is not here, of the same allocation as the missed one. Result: the node to
// fetch it from. kNoNode, and not locked: it should be left alone.
Task<NodeId> Misses::lock_unmissed(Strand& s, std::uint64_t block, std::uint64_t missed,
                                   MissUnderWay& under_way) {
  co_await s.pause();
  BlockEntry& entry = node_.entries[block];
  if (!entry.try_lock_now()) co_return kNoNode;
  bool good = entry.state() == BlockState::kInvalid && !entry.synchronises();
  if (good && entry.home() == kNoNode) {
    Owner owner = co_await homes_.ask_owner(s, block, missed);
    under_way.same_owner = {block, owner.same};
    if (owner.entry != 0) entry.set_home(NodeId{owner.entry - 1}, true);
    if (owner.entry != 0) entry.copy_policy(node_.entries[missed]);
  }
  NodeId home = entry.home();
  if (good && home == node_.config.self) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
    good = word & kMoved;
  }
  if (good && home != kNoNode) co_return home;
  co_await node_.unlock_block(s, block, entry.state());
  co_return kNoNode;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
