#include "protocol/hlrc/faults.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FaultResult> Faults::fault(Strand& s, BlockId id, Access wanted) {
  std::uint64_t block = id.value;
  if (memory_.is_short()) co_await memory_.make_room(s);
  if (adoptions_.may_relieve()) co_await adoptions_.relieve(s);
  co_await node_.lock_block(s, block);
  FaultResult result = FaultResult::kDone;
  BlockState state = node_.entries[block].state();
  if (node_.entries[block].synchronises()) {
    mark(Mark::kFaultFindsSynchronises);
    co_await node_.unlock_block(s, block, state);
    co_return FaultResult::kSynchronises;
  }
  if (state == BlockState::kInvalid) {
    MissUnderWay under_way;
    result = co_await fault_invalid(s, block, wanted, under_way);
    if (result == FaultResult::kDone) co_await misses_.prefetch_before(s, block, under_way);
    co_return result;
  }
  // Another thread made the block present meanwhile, the copy is an unmapped probe, or the kernel
  // removed its entry of the view. Mapping the block again does no harm.
  std::uint64_t remapped = 1;
  if (state != BlockState::kHome && node_.is_adaptive(block))
    remapped = node_.predictor.remap_count(block);
  bool unseals = wanted == Access::kWrite && node_.sealed.contains(block);
  if (unseals) remapped = std::min(node_.predictor.at_full_node().unseals(block), node_.room() / 2);
  BlockRange run{block, 1};
  if (state == BlockState::kHome) {
    result = co_await fault_at_home(s, {block, 1}, wanted);
  } else if (state == BlockState::kClean && !node_.scans() && node_.enters_free(wanted)) {
    co_await first_write(s, block);
    state = BlockState::kWritten;
  } else {
    mark(Mark::kFaultFindsBlockPresent);
    if (state == BlockState::kClean) run = co_await lock_remapped(s, {block, remapped});
    if (node_.sealed.contains(block)) {
      co_await fault_sealed(s, run, wanted);
    } else if (state == BlockState::kWritten) {
      co_await s.perform(Map{run, Access::kWrite});
    } else {
      co_await remap(s, run);
    }
  }
  for (std::uint64_t b = block; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
  co_return result;
}

// Where no node has copies, not even of zeros, a read makes this node the home too.
Access Faults::claims_by(Access wanted) const {
  return node_.config.sequential ? Access::kWrite : wanted;
}

Task<FaultResult> Faults::fault_invalid(Strand& s, std::uint64_t block, Access wanted,
                                        MissUnderWay& under_way) {
  FaultResult result = FaultResult::kDone;
  BlockState state = BlockState::kInvalid;
  std::uint64_t home = node_.entries[block].home().value;
  if (node_.entries[block].home() == kNoNode)
    home = co_await homes_.find_home(s, block, claims_by(wanted), under_way.same_owner);
  bool here = home == node_.config.self.value;
  BlockRange run{block, 1};
  if (here && node_.config.migrate) {
    OfferedHome found = co_await homes_.still_here(s, block);
    here = found != OfferedHome::kGone;
    if (found == OfferedHome::kOfferEnded) run = co_await end_offers_behind(s, block);
  }
  if (home == kHomeNowhere) {
    mark(Mark::kFaultOutsideRegions);
    result = FaultResult::kForeign;
  } else if (here) {
    result = co_await fault_at_home(s, run, wanted);
    if (result == FaultResult::kDone) state = BlockState::kHome;
  } else if (node_.config.sequential && !mutant(Mutant::kSequentialCopies)) {
    mark(Mark::kFaultFindsElsewhere);
    result = FaultResult::kElsewhere;
  } else {
    NodeId from = home == kHomeFirstTouch ? kNoNode : NodeId{static_cast<std::uint32_t>(home)};
    result = co_await misses_.fault_elsewhere(s, block, wanted, from, 0, under_way);
    co_return result;
  }
  for (std::uint64_t b = block; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
  co_return result;
}

// A thread of this node has ended the offer of this home. The homes that were offered with it are
// most likely needed as well, and would cost a fault each. Result: the block and those behind it
// whose offers have ended too; their locks are held.
Task<BlockRange> Faults::end_offers_behind(Strand& s, std::uint64_t block) {
  BlockRange run{block, 1};
  std::uint64_t last = block + std::min({node_.predictor.ends_offers(block), node_.most_of_run(),
                                         node_.end() - block});
  while (run.end() < last) {
    std::uint64_t next = run.end();
    BlockEntry& entry = node_.entries[next];
    co_await s.pause();
    if (!entry.try_lock_now()) break;
    BlockState state = entry.state();
    bool ours =
        state == BlockState::kInvalid && entry.home() == node_.config.self && !entry.synchronises();
    bool alike = node_.tracked.contains(next) == node_.tracked.contains(block);
    bool ended = false;
    if (ours && alike) ended = co_await homes_.end_offer(s, next);
    if (!ended && !mutant(Mutant::kReturnsWhatWent)) {
      co_await node_.unlock_block(s, next, state);
      break;
    }
    mark(Mark::kFaultEndsOffersBehind);
    ++run.count;
  }
  co_return run;
}

// Homes at this node, either all tracked or none of them.
Task<FaultResult> Faults::fault_at_home(Strand& s, BlockRange run, Access wanted) {
  bool backed = co_await s.perform(Populate{run});
  if (!backed) co_return FaultResult::kNoMemory;
  for (std::uint64_t b = run.first; b < run.end(); ++b) node_.add_home(b);
  bool enters = node_.entries[run.first].state() != BlockState::kHome;
  if (enters && node_.config.check_races) {
    co_await s.perform(CopyTwin{BlockId{run.first}});
    co_await homes_.track_checked(s, run.first);
  }
  if (!node_.tracked.contains(run.first)) {
    mark(Mark::kFaultAtHome);
    co_await s.perform(Map{run, Access::kWrite});
    if (!node_.scans() && wanted == Access::kWrite) co_await s.perform(Unprotect{run});
    co_return FaultResult::kDone;
  }
  mark(Mark::kFaultAtTrackedHome);
  if (!node_.scans() && node_.enters_free(wanted)) {
    mark(Mark::kFaultAtHomeForWriting);
    for (std::uint64_t b = run.first; b < run.end(); ++b) node_.written.insert(b);
    co_await s.perform(Map{run, Access::kWrite});
    co_await s.perform(Unprotect{run});
  } else {
    co_await remap(s, run);
  }
  co_return FaultResult::kDone;
}

// What was written to an entry that the kernel removed must still be found.
Task<> Faults::remap(Strand& s, BlockRange run) {
  if (mutant(Mutant::kRemovedEntryIsClean)) {
    co_await s.perform(Map{run, Access::kRead});
  } else {
    co_await s.perform(Remap{run});
  }
}

// Write detection by fault: the twin is made while the block is still protected.
Task<> Faults::first_write(Strand& s, std::uint64_t block) {
  mark(Mark::kFaultFirstWriteTwins);
  co_await s.perform(CopyTwin{BlockId{block}});
  node_.written.insert(block);
  co_await s.perform(Map{{block, 1}, Access::kWrite});
  co_await s.perform(Unprotect{{block, 1}});
}

// Sealed copies: the first store to one makes its twin, while no thread can store to it. Or it has
// left the view.
Task<> Faults::fault_sealed(Strand& s, BlockRange run, Access wanted) {
  if (wanted == Access::kRead) {
    mark(Mark::kFaultSharesAgain);
    if (mutant(Mutant::kRemapsSealed)) co_await s.perform(Remap{run});
    if (!mutant(Mutant::kRemapsSealed)) co_await s.perform(Share{run});
    co_return;
  }
  mark(Mark::kFaultUnseals);
  bool early = mutant(Mutant::kUnsealsBeforeTwin);
  if (early) co_await s.perform(Map{run, Access::kWrite});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    co_await s.perform(CopyTwin{BlockId{b}});
    node_.remove_sealed(b);
    node_.predictor.at_full_node().stored(b);
  }
  if (!early) co_await s.perform(Map{run, Access::kWrite});
}

// The block, and blocks behind it in the run that are copies of the same home: they return to the
// view together. Their locks are held.
Task<BlockRange> Faults::lock_remapped(Strand& s, BlockRange run) {
  BlockRange shown{run.first, 1};
  std::uint64_t last =
      run.first + std::min({run.count, node_.most_of_run(), node_.end() - run.first});
  while (shown.end() < last) {
    BlockEntry& next = node_.entries[shown.end()];
    co_await s.pause();
    if (!next.try_lock_now()) break;
    bool clean = next.state() == BlockState::kClean || mutant(Mutant::kProbeShowsDropped);
    if (next.synchronises()) clean = false;
    if (node_.sealed.contains(shown.end()) != node_.sealed.contains(run.first)) clean = false;
    if (!clean || next.home() != node_.entries[run.first].home()) {
      co_await node_.unlock_block(s, shown.end(), next.state());
      break;
    }
    mark(Mark::kFaultShowsNeighbour);
    node_.predictor.remapped(shown.end());
    ++shown.count;
  }
  co_return shown;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
