#include "protocol/homes/tracked_homes.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> TrackedHomes::untrack(Strand& s, std::uint64_t block) {
  if (node_.config.check_races) {
    co_await notices_.compare_home(s, block);
    co_return;
  }
  node_.predictor.written_when_tracked(block);
  co_await end_tracking(s, block);
}

// The scan has protected the block again, or, with detection by fault, the release has. So a later
// write is detected, and gets a notice of its own.
Task<> TrackedHomes::found_written(Strand& s, std::uint64_t block) {
  if (node_.config.check_races) {
    co_await notices_.compare_home(s, block);
    co_return;
  }
  if (!node_.predictor.written_when_tracked(block)) {
    co_await end_tracking(s, block);
    co_return;
  }
  mark(Mark::kReleaseKeepsTracked);
  if (mutant(Mutant::kKeepsTrackedWritable)) co_await s.perform(Unprotect{{block, 1}});
  notices_.notice(block);
}

Task<> TrackedHomes::end_tracking(Strand& s, std::uint64_t block) {
  mark(Mark::kReleaseUntracksHome);
  if (mutant(Mutant::kKeepTrackedWhenWritten)) co_return;
  co_await leave_to_leases(s, block, kHere);
  notices_.notice(block);
}

Task<> TrackedHomes::end(Strand& s, std::uint64_t block) {
  bool tracked = node_.tracked.contains(block);
  if (node_.config.check_races && node_.entries[block].state() == BlockState::kHome) {
    co_await notices_.compare_home(s, block);
  } else if (tracked || node_.written.contains(block)) {
    mark(Mark::kPromoteGivesNotice);
    if (!mutant(Mutant::kPromoteForgetsWrites)) notices_.notice(block);
  }
  if (tracked) co_await leave_to_leases(s, block, kHere);
}

Task<> TrackedHomes::leave_to_leases(Strand& s, std::uint64_t block, std::uint32_t word) {
  co_await homes_.store_word(s, block, word);
  node_.tracked.erase(block);
}

Task<> TrackedHomes::untrack_idle(Strand& s) {
  if (node_.config.check_races) co_return;
  std::uint64_t blocks = count();
  if (blocks == 0 || !node_.predictor.untracks_idle(blocks)) co_return;
  BlockRange run = node_.tracked.next_run(0, node_.config.blocks);
  while (run.count > 0) {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      co_await node_.lock_block(s, b);
      BlockState state = node_.entries[b].state();
      bool may = co_await may_untrack(s, b);
      if (may) {
        bool mapped = state == BlockState::kHome;
        mark(mapped ? Mark::kReleaseUntracksIdle : Mark::kReleaseUntracksUnmapped);
        bool here = mapped || node_.entries[b].home() == node_.config.self;
        co_await leave_to_leases(s, b, here ? kHere : 0);
        if (!mutant(Mutant::kUntrackSilently)) notices_.notice(b);
      }
      co_await node_.unlock_block(s, b, state);
    }
    run = node_.tracked.next_run(run.end(), node_.config.blocks);
  }
}

// Whether the block may be left to leases. Also a home by policy that this node never touched, as
// long as it is here: another thread may have freed it or given it away.
Task<bool> TrackedHomes::may_untrack(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = node_.entries[block];
  if (!node_.tracked.contains(block)) co_return false;
  if (entry.state() == BlockState::kHome) co_return true;
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  bool here = word & kTracked && !(word & (kOffered | kMoved | kComing));
  if (entry.state() != BlockState::kInvalid) here = false;
  co_return here;
}

// How many blocks are tracked.
std::uint64_t TrackedHomes::count() const {
  std::uint64_t blocks = 0;
  BlockRange run = node_.tracked.next_run(0, node_.config.blocks);
  while (run.count > 0) {
    blocks += run.count;
    run = node_.tracked.next_run(run.end(), node_.config.blocks);
  }
  return blocks;
}

Task<> TrackedHomes::track_wanted(Strand& s) {
  wanted_.clear();
  co_await s.perform(TakeWanted{&wanted_});
  for (const BlockRange& taken : wanted_) {
    BlockRange run{taken.first, 0};
    for (std::uint64_t b = taken.first; b < taken.end(); ++b) {
      // A block that is tracked already is not protected again: that would hide what was written
      // since the scan.
      bool again =
          node_.predictor.tracks(b) && (!node_.tracked.contains(b) || mutant(Mutant::kTrackAgain));
      if (again && run.end() == b) {
        ++run.count;
        continue;
      }
      if (run.count > 0) co_await track_run(s, run);
      run = again ? BlockRange{b, 1} : BlockRange{b + 1, 0};
    }
    if (run.count > 0) co_await track_run(s, run);
  }
}

// Only for the planted fault kPublishBeforeProtect: readers may rely on notices too early.
Task<> TrackedHomes::publish(Strand& s, BlockRange run) {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (!node_.tracked.contains(b)) co_await s.perform(StoreWord{BlockId{b}, kTracked});
}

// Protects and publishes those blocks of the run that this node may track.
Task<> TrackedHomes::track_run(Strand& s, BlockRange run) {
  if (mutant(Mutant::kPublishBeforeProtect)) co_await publish(s, run);
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.lock_block(s, b);
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = co_await trackable(s, part.end());
      if (!may) break;
      ++part.count;
    }
    if (part.count > 0) {
      co_await track_part(s, part);
      b = part.end();
    } else {
      co_await node_.unlock_block(s, b, node_.entries[b].state());
      ++b;
    }
  }
}

// Whether this node may track the block. The entry of a home by policy that this node never touched
// names no home yet. A copy is never tracked, even if a reader asked before the block was freed and
// allocated again.
Task<bool> TrackedHomes::trackable(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = node_.entries[block];
  // Another thread may have taken the home meanwhile. It tracks the home, and writes to it.
  if (node_.tracked.contains(block) && !mutant(Mutant::kTrackAgain)) co_return false;
  if (entry.synchronises() && !mutant(Mutant::kTrackSynchronises)) co_return false;
  if (entry.state() == BlockState::kHome || mutant(Mutant::kTrackCopies)) co_return true;
  bool here = entry.state() == BlockState::kInvalid &&
              (entry.home() == node_.config.self || entry.home() == kNoNode);
  if (!here || !node_.config.migrate || mutant(Mutant::kTrackOffered)) co_return here;
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  if (word & (kOffered | kMoved)) mark(Mark::kReleaseLeavesOffered);
  co_return !(word & (kOffered | kMoved));
}

Task<> TrackedHomes::track_part(Strand& s, BlockRange run) {
  co_await s.perform(Protect{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = node_.entries[b].state();
    mark(state == BlockState::kHome ? Mark::kReleaseTracksWanted : Mark::kReleaseTracksUnmapped);
    node_.track(b);
    // A reader may have asked before the block was freed. Then the block's home is not known here.
    bool here = node_.entries[b].home() == node_.config.self || mutant(Mutant::kTrackSaysHere);
    co_await homes_.store_word(s, b, here ? kTracked | kHere : kTracked);
    co_await node_.unlock_block(s, b, state);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
