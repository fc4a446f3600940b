#include <algorithm>

#include "protocol/homes/home_words.h"

// A first write claims the homes of its block and of a run of neighbours.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Claims blocks behind or before a first write: as many as the predictor says, up to one that a
// node has claimed, and only from one directory node. A fault for each block would cost far more
// than a home that is claimed in vain, since that follows its writer.
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
  most = std::min({extent, node_.end() - block, kept, std::min(most, kept) + 1});
  while (next.count + 1 < most) {
    bool locked = co_await lock_unclaimed(s, next.end(), next.count);
    if (!locked) break;
    ++next.count;
  }
  co_return co_await claim_locked(s, next, block);
}

// As claim_behind(), downwards. All blocks belong to the same allocation.
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

// Locks a block that no node is known to have claimed, if there is memory for it and `more` others.
// After its region was freed, a block may be tracked although no node has claimed it; such a block
// is left to its own fault.
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

// The blocks are locked; their neighbour is claimed. Result: how many of the first ones this node
// owns now.
Task<std::uint64_t> HomeWords::claim_locked(Strand& s, BlockRange run, std::uint64_t neighbour) {
  if (run.count == 0) co_return 0;
  std::uint64_t claimed = co_await claim_run(s, run, neighbour);
  co_await enter_claimed(s, run, claimed, neighbour);
  co_return claimed;
}

// One node is the directory of the run. Result: how many of its first blocks this node owns now.
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

// The blocks are locked, and the first `claimed` ones are claimed. Makes those homes, as
// fault_at_home() does, with the policy of their neighbour. Unlocks all.
Task<> HomeWords::enter_claimed(Strand& s, BlockRange run, std::uint64_t claimed,
                                std::uint64_t neighbour) {
  BlockRange ours{run.first, claimed};
  bool backed = false;
  // A home that looks for races enters the view one at a time (Faults::fault_at_home).
  bool enters = claimed > 0 && !node_.config.check_races;
  if (enters) backed = co_await s.perform(Populate{ours});
  if (backed) {
    mark(Mark::kFaultClaimsNext);
    co_await s.perform(Map{ours, Access::kWrite});
    if (!node_.scans()) co_await s.perform(Unprotect{ours});
  }
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool here = b < ours.end();
    if (here) node_.entries[b].set_home(node_.config.self, true);
    if (here) node_.entries[b].copy_policy(node_.entries[neighbour]);
    if (here && backed) node_.add_home(b);
    co_await node_.unlock_block(s, b, here && backed ? BlockState::kHome : BlockState::kInvalid);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
