#include "protocol/hlrc/misses.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FaultResult> Misses::fault_elsewhere(Strand& s, std::uint64_t block, Access wanted,
                                          NodeId home, std::uint64_t unmissed,
                                          MissUnderWay& under_way) {
  BlockRange run{block, 1};
  BlockState state = co_await fault_copy(s, run, wanted, home, unmissed, under_way);
  if (state == BlockState::kInvalid) {  // a later claim must not find the block among the copies
    mark(Mark::kFaultGivesUp);
    if (!mutant(Mutant::kKeepFailedFetch)) {
      node_.leases.erase(block);
      node_.remove_cached(block);
    }
    co_await node_.unlock_block(s, block, BlockState::kInvalid);
    co_return FaultResult::kNoMemory;
  }
  co_await node_.unlock_block(s, block, state);
  if (state == BlockState::kWritten)
    state = BlockState::kClean;  // what was prefetched was not written
  for (std::uint64_t b = block + 1; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
  if (under_way.pipeline.count > 0) co_await finish_pipeline(s, under_way);
  co_return FaultResult::kDone;
}

// Makes a copy of another node's block. home kNoNode: no node has written it yet; it reads as
// zeros. The copy is entered in the sets before the home's word is loaded: an acquire that comes in
// between waits for it and drops it. `run` grows by the neighbours that are prefetched. Result: the
// state of the blocks now; kInvalid if memory is short.
Task<BlockState> Misses::fault_copy(Strand& s, BlockRange& run, Access wanted, NodeId home,
                                    std::uint64_t unmissed, MissUnderWay& under_way) {
  std::uint64_t block = run.first;
  co_await s.pause();
  bool late = mutant(Mutant::kLateCachedMark);
  if (!late) {
    node_.leases.insert(block);
    node_.add_cached(block);
  }
  co_await s.pause();
  if (home == kNoNode && !mutant(Mutant::kLookOnceForClaim))
    home = co_await homes_.still_unclaimed(s, block, under_way.same_owner);
  bool backed = co_await s.perform(Populate{run});
  if (!backed) co_return BlockState::kInvalid;
  if (home != kNoNode) {
    bool ordinary = unmissed == 0;
    Miss miss = miss_of(block, wanted, home);
    miss.prefetches = node_.config.enters_protected && !late;
    MissPlan plan{.blocks = unmissed, .fresh = true};
    if (ordinary) plan = node_.predictor.at_miss(miss);
    bool whole = plan.blocks >= node_.most_of_run();  // each seal costs system calls
    under_way.seals = whole && may_seal(miss) && node_.predictor.at_full_node().seals(miss);
    if (miss.prefetches) under_way.skips = node_.predictor.at_full_node().skips_present(miss);
    if (plan.homes > 0 && miss.movable) co_await ask_offers(s, miss, home, plan.homes);
    std::uint64_t extent = 0;
    if (miss.prefetches) extent = co_await extend_run(s, run, home, plan, under_way);
    if (ordinary && extent > 0) co_await ask_pipelined(s, run, home, extent, miss, under_way);
    Fetched got = co_await fetches_.fetch_missed(s, run, home);
    co_await leave_out(s, {run.first + got.count, run.count - got.count});
    run.count = got.count;
    std::uint64_t limit = extent > 0 ? block + extent : node_.end();
    std::uint64_t end = behind_present(run.end(), limit, under_way);
    if (ordinary) node_.predictor.miss_ended(block, run.count == extent ? 0 : end);
    under_way.pipeline.miss_end = end;
    if (got.own) {
      co_await enter_homes(s, run, access_of_homes(miss));
      co_return BlockState::kHome;
    }
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      if (node_.entries[b].home() != got.home) node_.entries[b].set_home(got.home);
      node_.predictor.missed(b);
    }
  }
  if (late) {
    co_await s.pause();
    node_.leases.insert(block);
    node_.add_cached(block);
  }
  bool free = node_.enters_free(wanted);
  std::uint64_t twins = node_.scans() && !under_way.seals ? run.count : free ? 1 : 0;
  for (std::uint64_t b = block; b < block + twins; ++b) {
    if (mutant(Mutant::kTwinFromHome) && home != kNoNode) {
      co_await s.perform(CopyTwin{BlockId{b}, home});
    } else {
      co_await s.perform(CopyTwin{BlockId{b}});
    }
  }
  co_await enter_copies(s, run, wanted, under_way.seals);
  co_return !node_.scans() && node_.enters_free(wanted) ? BlockState::kWritten : BlockState::kClean;
}

// What the predictor gets to know of a miss. The caller sets `prefetches`.
Miss Misses::miss_of(std::uint64_t block, Access wanted, NodeId home) const {
  const Clusters& clusters = node_.core.clusters();
  NodeId self = node_.config.self;
  bool far = !clusters.together(self, home);
  return {.block = block,
          .access = wanted,
          .reached = node_.reaches(home),
          .adaptive = node_.is_adaptive(block),
          .much_room = node_.config.limit == ~0ull || node_.room() > node_.config.limit / 2,
          .little_room = node_.config.limit != ~0ull && node_.room() < node_.config.limit / 4,
          .movable = node_.entries[block].movable() && home != self && homes_.may_take(),
          .far = far,
          .shared_link = far && clusters.members(clusters.of(self)).size() > 1,
          .prefetches = false};
}

// How homes that come with the miss enter the view: protected (kRead) or writable (kWrite).
Access Misses::access_of_homes(const Miss& miss) const {
  bool writes = miss.access == Access::kWrite || node_.predictor.expects_writes(miss);
  return writes ? Access::kWrite : Access::kRead;
}

// At a miss: asks the home to offer the missed block and those behind it, `most` in all, unless
// they have moved already.
Task<bool> Misses::ask_offers(Strand& s, const Miss& miss, NodeId home, std::uint64_t most) {
  std::uint64_t block = miss.block;
  Event find = RegionExtent{BlockId{block}, s.waiter()};
  std::uint64_t extent = co_await s.call(find);
  BlockRange run{block, std::min({extent, most, node_.end() - block})};
  if (run.count == 0) co_return false;
  bool reads = miss.access == Access::kRead;
  mark(reads ? Mark::kFaultAsksForHomesToRead : Mark::kFaultAsksForHomes);
  OfferWish wish = reads ? OfferWish::kReads : OfferWish::kWrites;
  Event ask = AskOffer{home, run, wish, s.waiter()};
  std::uint64_t offered = co_await s.call(ask);
  node_.predictor.homes_asked(miss, run.end(), offered);
  co_return true;
}

// Blocks of which this node became the home enter as at any home (fault_at_home). Then other nodes
// find them here.
Task<> Misses::enter_homes(Strand& s, BlockRange run, Access wanted) {
  mark(Mark::kFaultTakesHome);
  // A block that is about to be written need not be tracked: its notice is given in any case. The
  // same holds for homes that this node asked for, which it most likely writes.
  bool tracks = !node_.scans() || wanted == Access::kRead;
  bool free = node_.enters_free(wanted) || !homes_.tracks_taken(run.first);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (free && homes_.tracks_taken(b)) node_.written.insert(b);
  }
  co_await s.perform(Map{run, free ? Access::kWrite : Access::kRead});
  co_await homes_.become_home(s, run, tracks);
  node_.taken.fetch_add(1, std::memory_order_release);
}

// With detection by scan the kernel does not say when the first store comes, so a copy has its twin
// from the beginning, or is sealed.
bool Misses::may_seal(const Miss& miss) const {
  return node_.scans() && miss.access == Access::kRead && miss.prefetches &&
         !node_.config.check_races;
}

// Maps the copies. Those that were prefetched enter protected.
Task<> Misses::enter_copies(Strand& s, BlockRange run, Access wanted, bool seals) {
  if (seals) {
    mark(Mark::kFaultSeals);
    for (std::uint64_t b = run.first; b < run.end(); ++b) node_.add_sealed(b);
    if (mutant(Mutant::kSealsUnguarded)) {
      co_await s.perform(Map{run, Access::kRead});
    } else {
      co_await s.perform(Share{run});
    }
    co_return;
  }
  if (node_.enters_free(wanted)) {
    mark(Mark::kFaultFetchesForWriting);
    if (!node_.scans())
      node_.written.insert(run.first);  // a scan finds blocks that were never protected
    co_await s.perform(Map{{run.first, 1}, Access::kWrite});
    run = {run.first + 1, run.count - 1};
  }
  if (run.count > 0) co_await s.perform(Map{run, Access::kRead});
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
