#include "protocol/hlrc/faults.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FaultResult> Faults::fault(Strand& s, BlockId id, Access wanted) {
  std::uint64_t block = id.value;
  if (memory_.is_short()) co_await memory_.make_room(s);
  co_await node_.lock_block(s, block);
  FaultResult result = FaultResult::kDone;
  BlockState state = node_.entries[block].state();
  if (state == BlockState::kInvalid) {
    MissUnderWay under_way;
    result = co_await fault_invalid(s, block, wanted, under_way);
    if (result == FaultResult::kDone) co_await misses_.prefetch_before(s, block, under_way);
    co_return result;
  }
  // Somebody made the block present meanwhile, it was hidden, or the kernel took an entry away:
  // mapping it again does no harm.
  std::uint64_t shown = 1;
  if (state != BlockState::kHome && node_.is_adaptive(block)) shown = node_.predictor.shown(block);
  BlockRange run{block, 1};
  if (state == BlockState::kHome) {
    result = co_await fault_at_home(s, block, wanted);
  } else if (state == BlockState::kClean && !node_.scans() && node_.enters_free(wanted)) {
    co_await first_write(s, block);
    state = BlockState::kWritten;
  } else {
    mark(Mark::kFaultFindsBlockPresent);
    if (state == BlockState::kClean) run = co_await lock_shown(s, {block, shown});
    co_await s.perform(Map{run, state == BlockState::kWritten ? Access::kWrite : Access::kRead});
  }
  for (std::uint64_t b = block; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
  co_return result;
}

Task<FaultResult> Faults::fault_invalid(Strand& s, std::uint64_t block, Access wanted,
                                        MissUnderWay& under_way) {
  FaultResult result = FaultResult::kDone;
  BlockState state = BlockState::kInvalid;
  std::uint64_t home = node_.entries[block].home().value;
  if (node_.entries[block].home() == kNoNode)
    home = co_await homes_.find_home(s, block, wanted, under_way.same_owner);
  bool here = home == node_.config.self.value;
  if (here && node_.config.migrate) here = co_await homes_.still_here(s, block);
  if (home == kHomeNowhere) {
    mark(Mark::kFaultOutsideRegions);
    result = FaultResult::kForeign;
  } else if (here) {
    result = co_await fault_at_home(s, block, wanted);
    if (result == FaultResult::kDone) state = BlockState::kHome;
  } else {
    NodeId from = home == kHomeFirstTouch ? kNoNode : NodeId{static_cast<std::uint32_t>(home)};
    result = co_await misses_.fault_elsewhere(s, block, wanted, from, 0, under_way);
    co_return result;
  }
  co_await node_.unlock_block(s, block, state);
  co_return result;
}

Task<FaultResult> Faults::fault_at_home(Strand& s, std::uint64_t block, Access wanted) {
  BlockRange one{block, 1};
  bool backed = co_await s.perform(Populate{one});
  if (!backed) co_return FaultResult::kNoMemory;
  if (!node_.tracked.contains(block)) {
    mark(Mark::kFaultAtHome);
    co_await s.perform(Map{one, Access::kWrite});
    if (!node_.scans() && wanted == Access::kWrite) co_await s.perform(Unprotect{one});
    co_return FaultResult::kDone;
  }
  mark(Mark::kFaultAtTrackedHome);
  if (!node_.scans() && node_.enters_free(wanted)) {
    mark(Mark::kFaultAtHomeForWriting);
    node_.written.insert(block);
    co_await s.perform(Map{one, Access::kWrite});
    co_await s.perform(Unprotect{one});
  } else {
    co_await s.perform(Map{one, Access::kRead});
  }
  co_return FaultResult::kDone;
}

// Write detection by fault: the twin is made while the block is still protected.
Task<> Faults::first_write(Strand& s, std::uint64_t block) {
  mark(Mark::kFaultFirstWriteTwins);
  co_await s.perform(CopyTwin{BlockId{block}});
  node_.written.insert(block);
  co_await s.perform(Map{{block, 1}, Access::kWrite});
  co_await s.perform(Unprotect{{block, 1}});
}

// The block, and those of the run behind it that are copies of the same home: they come back into
// the view together. Locked.
Task<BlockRange> Faults::lock_shown(Strand& s, BlockRange run) {
  BlockRange shown{run.first, 1};
  std::uint64_t last =
      run.first + std::min({run.count, node_.most_of_run(), node_.end() - run.first});
  while (shown.end() < last) {
    BlockEntry& next = node_.entries[shown.end()];
    co_await s.pause();
    if (!next.try_lock_now()) break;
    bool clean = next.state() == BlockState::kClean || mutant(Mutant::kShowsWhatDied);
    if (!clean || next.home() != node_.entries[run.first].home()) {
      co_await node_.unlock_block(s, shown.end(), next.state());
      break;
    }
    mark(Mark::kFaultShowsNeighbour);
    node_.predictor.shown_too(shown.end());
    ++shown.count;
  }
  co_return shown;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
