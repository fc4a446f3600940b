#include <algorithm>

#include "protocol/hlrc/home_words.h"

// First writes claim their homes in runs.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks behind a first write become ours with it, as many as the predictor says, as far as nobody
// has them: a fault for each would cost far more than what is claimed too much, whose homes follow
// their writers.
Task<> HomeWords::claim_next(Strand& s, std::uint64_t block) {
  BlockRange next{block + 1, 0};
  std::uint64_t more = node_.predictor.claim_behind(block);
  if (more > 0) {
    Event ask = RegionExtent{BlockId{block}, s.waiter()};
    std::uint64_t extent = co_await s.call(ask);
    std::uint64_t most = std::min({extent, node_.end() - block, node_.most_of_run(), more + 1});
    while (next.count + 1 < most && node_.room() >= 2 * (next.count + 2)) {
      co_await s.pause();
      BlockEntry& entry = node_.entries[next.end()];
      if (!entry.try_lock_now()) break;
      std::uint64_t b = next.end();
      // A block may have been tracked since it was freed: such a one has its own fault.
      bool good = entry.state() == BlockState::kInvalid && entry.home() == kNoNode &&
                  (!node_.tracked.contains(b) || mutant(Mutant::kClaimTracked));
      if (!good) {
        co_await node_.unlock_block(s, b, entry.state());
        break;
      }
      ++next.count;
    }
  }
  std::uint64_t claimed = co_await claim_run(s, next);
  node_.predictor.claimed(block, next.first + claimed);
  if (next.count > 0) co_await enter_claimed(s, next, claimed, block);
}

// How many of the run's first blocks are ours by now.
Task<std::uint64_t> HomeWords::claim_run(Strand& s, BlockRange run) {
  std::uint32_t mine = node_.config.self.value + 1;
  std::uint64_t count = 0;
  while (count < run.count) {
    std::uint64_t block = run.first + count;
    std::uint64_t most = 1;
    if (!node_.reaches(node_.directory(block)))
      most = std::min(run.count - count, directory_end(block) - block);
    Owner owner = co_await s.perform(ClaimOwner{node_.directory(block), {block, most}, mine});
    if (owner.entry != mine) break;
    std::uint64_t got = most == 1 ? 1 : std::min<std::uint64_t>(owner.same, most);
    count += got;
    if (got < most) break;
  }
  co_return count;
}

// Locked blocks, the first of which we have claimed: as the policy of their neighbour says, and as
// any home is (fault_at_home).
Task<> HomeWords::enter_claimed(Strand& s, BlockRange run, std::uint64_t claimed,
                                std::uint64_t neighbour) {
  BlockRange ours{run.first, claimed};
  bool backed = false;
  if (claimed > 0) backed = co_await s.perform(Populate{ours});
  if (backed) {
    mark(Mark::kFaultClaimsNext);
    co_await s.perform(Map{ours, Access::kWrite});
    if (!node_.scans()) co_await s.perform(Unprotect{ours});
  }
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool here = b < ours.end();
    if (here) node_.entries[b].set_home(node_.config.self, true);
    if (here) node_.entries[b].copy_policy(node_.entries[neighbour]);
    co_await node_.unlock_block(s, b, here && backed ? BlockState::kHome : BlockState::kInvalid);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
