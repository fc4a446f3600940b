// First writes claim their homes in runs.
#include <algorithm>

#include "protocol/hlrc/hlrc.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks behind a first write become ours with it, as many as the predictor says, as far as nobody
// has them: a fault for each would cost far more than what is claimed too much, whose homes follow
// their writers.
Task<> Hlrc::claim_next(Strand& s, std::uint64_t block) {
  BlockRange next{block + 1, 0};
  std::uint64_t more = predictor_.claim_behind(block);
  if (more > 0) {
    Event ask = RegionExtent{BlockId{block}, s.waiter()};
    std::uint64_t extent = co_await s.call(ask);
    std::uint64_t most = std::min({extent, end() - block, most_of_run(), more + 1});
    while (next.count + 1 < most && room() >= 2 * (next.count + 2)) {
      co_await s.pause();
      BlockEntry& entry = entries_[next.end()];
      if (!entry.try_lock_now()) break;
      std::uint64_t b = next.end();
      // A block may have been tracked since it was freed: such a one has its own fault.
      bool good = entry.state() == BlockState::kInvalid && entry.home() == kNoNode &&
                  (!tracked_.contains(b) || mutant(Mutant::kClaimTracked));
      if (!good) {
        co_await unlock_block(s, b, entry.state());
        break;
      }
      ++next.count;
    }
  }
  std::uint64_t claimed = co_await claim_run(s, next);
  predictor_.claimed(block, next.first + claimed);
  if (next.count > 0) co_await enter_claimed(s, next, claimed, block);
}

// How many of the run's first blocks are ours by now.
Task<std::uint64_t> Hlrc::claim_run(Strand& s, BlockRange run) {
  std::uint32_t mine = config_.self.value + 1;
  std::uint64_t count = 0;
  while (count < run.count) {
    std::uint64_t block = run.first + count;
    std::uint64_t most = 1;
    if (!reaches(directory(block)))
      most = std::min(run.count - count, directory_end(block) - block);
    Owner owner = co_await s.perform(ClaimOwner{directory(block), {block, most}, mine});
    if (owner.entry != mine) break;
    std::uint64_t got = most == 1 ? 1 : std::min<std::uint64_t>(owner.same, most);
    count += got;
    if (got < most) break;
  }
  co_return count;
}

// Locked blocks, the first of which we have claimed: as the policy of their neighbour says, and as
// any home is (fault_at_home).
Task<> Hlrc::enter_claimed(Strand& s, BlockRange run, std::uint64_t claimed,
                           std::uint64_t neighbour) {
  BlockRange ours{run.first, claimed};
  bool backed = false;
  if (claimed > 0) backed = co_await s.perform(Populate{ours});
  if (backed) {
    mark(Mark::kFaultClaimsNext);
    co_await s.perform(Map{ours, Access::kWrite});
    if (!scans()) co_await s.perform(Unprotect{ours});
  }
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool here = b < ours.end();
    if (here) entries_[b].set_home(config_.self, true);
    if (here) entries_[b].copy_policy(entries_[neighbour]);
    co_await unlock_block(s, b, here && backed ? BlockState::kHome : BlockState::kInvalid);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
