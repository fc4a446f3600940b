#include "protocol/copies/invalidation.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> Invalidation::invalidate(Strand& s, BlockRange run, bool punch) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (node_.entries[b].busy()) mark(Mark::kInvalidateWaitsForBusyBlock);
    co_await node_.lock_block(s, b);
  }
  bool early = mutant(Mutant::kDiffBeforeZap);
  if (!early) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await invalidate_block(s, b, punch);
    if (early) co_await s.perform(Zap{{b, 1}});
  }
  if (mutant(Mutant::kInvalidBeforeFlushed)) s.set_posted(false);
  co_await flushes_.await_flush(s);
  co_await finish_invalid(s, run, punch);
}

Task<BlockState> Invalidation::invalidate_held(Strand& s, std::uint64_t block) {
  co_await s.perform(Zap{{block, 1}});
  co_await invalidate_block(s, block, true);
  co_await flushes_.await_flush(s);
  co_return is_copy(block) ? BlockState::kInvalid : node_.entries[block].state();
}

// Stores the copy's difference at its home, and removes the copy from the sets.
Task<> Invalidation::invalidate_block(Strand& s, std::uint64_t block, bool evicted) {
  BlockState state = node_.entries[block].state();
  if (state == BlockState::kInvalid || state == BlockState::kHome) {
    // While this thread waited for the block's lock, the fetch failed, and another thread may have
    // claimed the block. A fault maps it again. What the zapped entry knew of writes is lost, so a
    // tracked home counts as written.
    mark(Mark::kInvalidateFindsNoCopy);
    bool home = state == BlockState::kHome && node_.tracked.contains(block);
    if (home && !mutant(Mutant::kKeepFailedFetch)) co_await tracked_homes_.untrack(s, block);
    co_return;
  }
  std::size_t before = notices_.size();
  bool dirty = co_await may_be_dirty(s, block, state);
  if (evicted && mutant(Mutant::kPunchBeforeDiff)) co_await s.perform(Punch{{block, 1}});
  if (evicted && mutant(Mutant::kTwinBeforeDiff)) co_await s.perform(DropTwin{{block, 1}});
  bool forgets =
      mutant(Mutant::kInvalidateWithoutDiff) || (evicted && mutant(Mutant::kEvictWithoutDiff));
  if (dirty && !forgets) {
    Flushed flushed =
        co_await flushes_.flush_changes(s, block, mutant(Mutant::kDiffBeforeZap), !node_.scans());
    bool mine = flushed.mine;
    if (mine) mark(Mark::kInvalidateClaimsHome);
    if (mine && node_.config.check_races) co_await notices_.compare_home(s, block);
    if (mine && !node_.config.check_races) node_.spare.insert(block);
    if (notices_.size() > before) mark(Mark::kInvalidateFlushesDirty);
    bool silent =
        mutant(Mutant::kForgetInvalidated) || (evicted && mutant(Mutant::kEvictWithoutNotice));
    if (silent && notices_.size() > before) notices_.forget_behind(before);
  }
  node_.written.erase(block);
  node_.leases.erase(block);
  node_.remove_cached(block);
}

// The copies of the run become invalid. The memory of one may go, unless this node has become its
// home. All blocks in one loop: one coroutine for each block, none of which stops, would use up the
// stack where the compiler makes no tail calls.
Task<> Invalidation::finish_invalid(Strand& s, BlockRange run, bool punch) {
  BlockRange punched{run.first, 0};
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool gone = is_copy(b) && node_.entries[b].home() != node_.config.self;
    if (gone && punch) ++punched.count;
    if (gone && punch) node_.predictor.at_full_node().evicted(b);
    if (gone && !punch) node_.add_idle(b);
    if (gone && punch && b + 1 < run.end()) continue;
    if (punched.count > 0) co_await s.perform(Punch{punched});
    punched = {b + 1, 0};
  }
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = is_copy(b) ? BlockState::kInvalid : node_.entries[b].state();
    if (node_.entries[b].unlock(state)) co_await s.wake(node_.entries[b].word());
  }
}

bool Invalidation::is_copy(std::uint64_t block) const {
  BlockState state = node_.entries[block].state();
  return state == BlockState::kClean || state == BlockState::kWritten;
}

// Whether the copy may have been written. With write detection by scan, the comparison with the
// twin shows it. A copy of zeros that was only read must not claim its block: its region may be in
// the process of being freed.
Task<bool> Invalidation::may_be_dirty(Strand& s, std::uint64_t block, BlockState state) {
  if (!node_.scans()) co_return state == BlockState::kWritten;
  if (node_.sealed.contains(block)) {
    mark(Mark::kInvalidateFindsSealed);
    co_return mutant(Mutant::kFlushesSealed);
  }
  if (node_.entries[block].home() != kNoNode) co_return true;
  std::uint64_t changed = co_await s.perform(StoreDiff{node_.config.self, BlockId{block}});
  if (changed == 0) mark(Mark::kInvalidateFindsZeros);
  co_return changed > 0;
}

Task<> Invalidation::drop(Strand& s, [[maybe_unused]] RegionId region, BlockRange range) {
  co_await node_.enter(s);
  ++node_.activity;
  node_.acquired.fetch_add(1);
  for (std::uint64_t at = range.first; at < range.end(); at += kDropBatch) {
    std::uint64_t left = range.end() - at;
    BlockRange run{at, std::min(left, kDropBatch)};
    co_await drop_run(s, run);
  }
  offers_.forget_writers(range);
  node_.predictor.region_freed(range);
  co_await node_.leave(s);
}

// Freed blocks: forgets their copies, homes and directory entries. They read as zeros from now on.
Task<> Invalidation::drop_run(Strand& s, BlockRange run) {
  bool used = false;
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await node_.lock_block(s, b);
    bool present = node_.entries[b].state() != BlockState::kInvalid;
    used = used || present;
    if (present)
      mark(node_.entries[b].state() == BlockState::kHome ? Mark::kDropHome : Mark::kDropCached);
  }
  if (used) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await s.perform(StoreWord{BlockId{b}, 0});
    co_await s.perform(ClearOwner{BlockId{b}});
    node_.tracked.erase(b);
    node_.leases.erase(b);
    node_.written.erase(b);
    node_.remove_cached(b);
    node_.remove_idle(b);
    node_.remove_home(b);
    node_.leaving.erase(b);
    node_.spare.erase(b);
    node_.entries[b].set_policy({}, {}, 0);
    node_.entries[b].mark_dropped();
    node_.predictor.forget(b);
  }
  if (!mutant(Mutant::kDropKeepsMemory)) co_await s.perform(Punch{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (node_.entries[b].unlock(BlockState::kInvalid)) co_await s.wake(node_.entries[b].word());
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
