#include <algorithm>

#include "protocol/hlrc/home_words.h"

// First writes claim their homes in runs.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks behind or before a first write become ours with it, as many as the predictor says, as far
// as nobody has them and one node keeps their directory: a fault for each would cost far more than
// what is claimed too much, whose homes follow their writers.
Task<> HomeWords::claim_neighbours(Strand& s, std::uint64_t block) {
  ClaimPlan plan = node_.predictor.claims(block);
  BlockRange claimed{block, 1};
  if (plan.behind > 0) {
    claimed.count += co_await claim_behind(s, block, plan.behind);
  } else if (plan.before > 0) {
    std::uint64_t before = co_await claim_before(s, block, plan.before);
    claimed = {block - before, before + 1};
  }
  node_.predictor.claimed(block, claimed);
}

Task<std::uint64_t> HomeWords::claim_behind(Strand& s, std::uint64_t block, std::uint64_t most) {
  BlockRange next{block + 1, 0};
  Event ask = RegionExtent{BlockId{block}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  std::uint64_t kept = directory_end(next.first) - block;
  most = std::min({extent, node_.end() - block, kept, most + 1});
  while (next.count + 1 < most) {
    bool locked = co_await lock_unclaimed(s, next.end(), next.count);
    if (!locked) break;
    ++next.count;
  }
  co_return co_await claim_locked(s, next, block);
}

// As above, downwards: all of the same allocation.
Task<std::uint64_t> HomeWords::claim_before(Strand& s, std::uint64_t block, std::uint64_t most) {
  if (block == 0) co_return 0;
  most = std::min(most, (block - 1) % kDirectoryRun + 1);
  Event ask = RegionExtent{BlockId{block - most}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  if (extent <= most) co_return 0;
  BlockRange before{block, 0};
  while (before.count < most) {
    bool locked = co_await lock_unclaimed(s, before.first - 1, before.count);
    if (!locked) break;
    before = {before.first - 1, before.count + 1};
  }
  if (before.count > 0) mark(Mark::kFaultClaimsBefore);
  co_return co_await claim_locked(s, before, block);
}

// Locks a block that nobody is known to have, if there is room for it and `more` others. A block
// may have been tracked since it was freed: such a one has its own fault.
Task<bool> HomeWords::lock_unclaimed(Strand& s, std::uint64_t block, std::uint64_t more) {
  if (node_.room() < 2 * (more + 2)) co_return false;
  co_await s.pause();
  BlockEntry& entry = node_.entries[block];
  if (!entry.try_lock_now()) co_return false;
  bool good = entry.state() == BlockState::kInvalid && entry.home() == kNoNode &&
              (!node_.tracked.contains(block) || mutant(Mutant::kClaimTracked));
  if (!good) co_await node_.unlock_block(s, block, entry.state());
  co_return good;
}

// Locked blocks; the neighbour is claimed. How many of the first ones are ours by now.
Task<std::uint64_t> HomeWords::claim_locked(Strand& s, BlockRange run, std::uint64_t neighbour) {
  if (run.count == 0) co_return 0;
  std::uint64_t claimed = co_await claim_run(s, run, neighbour);
  co_await enter_claimed(s, run, claimed, neighbour);
  co_return claimed;
}

// Of a run whose directory one node keeps: how many of its first blocks are ours by now.
Task<std::uint64_t> HomeWords::claim_run(Strand& s, BlockRange run, std::uint64_t neighbour) {
  std::uint32_t mine = node_.config.self.value + 1;
  NodeId directory = node_.directory(run.first, neighbour);
  if (!node_.reaches(directory)) {
    Owner owner = co_await s.perform(ClaimOwner{directory, run, mine});
    co_return owner.entry == mine ? std::min<std::uint64_t>(owner.same, run.count) : 0;
  }
  std::uint64_t count = 0;
  while (count < run.count) {
    Owner owner = co_await s.perform(ClaimOwner{directory, {run.first + count, 1}, mine});
    if (owner.entry != mine) break;
    ++count;
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
