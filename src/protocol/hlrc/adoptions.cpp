#include "protocol/hlrc/adoptions.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// ---- the node that is full

Task<> Adoptions::relieve(Strand& s) {
  if (!node_.config.migrate || node_.config.nodes < 2) co_return;
  AdoptionPlan plan = node_.predictor.at_full_node().adoption(pressure(), *this);
  bool sound = plan.node.value < node_.config.nodes && plan.node != node_.config.self;
  if (plan.blocks == 0 || !sound) co_return;
  co_await give(s, plan.node, plan.blocks, plan.presses, plan.waits);
}

Task<> Adoptions::free_memory(Strand& s) {
  co_await memory_.free_memory(s);
  co_await give_to_all(s, true);
}

Task<> Adoptions::shrink(Strand& s) {
  if (!memory_.is_short()) co_return;
  mark(Mark::kShrinks);
  co_await memory_.make_room(s);
  co_await give_to_all(s, false);
}

// After memory of every other kind: asks all other nodes in turn, the nearest first.
Task<> Adoptions::give_to_all(Strand& s, bool all_copies_go) {
  if (!node_.config.migrate) co_return;
  for (std::uint32_t distance = 0; distance <= kFarthest; ++distance) {
    for (std::uint32_t n = 0; n < node_.config.nodes && memory_.is_short(); ++n) {
      NodeId to{n};
      if (to == node_.config.self || this->distance(to) != distance) continue;
      std::uint64_t taken = kRelieved;
      while (memory_.is_short() && taken > 0) {
        taken = co_await give(s, to, kRelieved, true, true);
        if (!all_copies_go && taken == 0 && mutant(Mutant::kShrinkDropsHome))
          co_await s.perform(Punch{.blocks = next_to_go(1), .evicts = false});
        if (all_copies_go) {
          co_await memory_.free_memory(s);
        } else {
          co_await memory_.make_room(s);
        }
      }
    }
  }
}

// Asks the node to adopt homes of this one. Result: how many it took, if the thread waits for it.
Task<std::uint64_t> Adoptions::give(Strand& s, NodeId to, std::uint64_t blocks, bool presses,
                                    bool waits) {
  co_await s.pause();
  BlockRange run = next_to_go(std::min(blocks, wire::kMostAdopted));
  if (run.count == 0) co_return 0;
  mark(waits ? Mark::kAsksToAdopt : Mark::kAsksToAdoptLater);
  Event ask = AskAdoption{to, run, presses, waits ? s.waiter() : kNobody};
  if (waits) co_return co_await s.call(ask);
  co_await s.tell(ask);
  co_return 0;
}

// In circular order: those that came first and were not asked for again. Threads that come here
// together may get the same ones.
BlockRange Adoptions::next_to_go(std::uint64_t most) {
  std::uint64_t hand = hand_.load(std::memory_order_relaxed);
  BlockRange run = node_.homes.next_run(hand, node_.end());
  if (run.count == 0) run = node_.homes.next_run(0, node_.end());
  run.count = std::min(run.count, most);
  hand_.store(run.end(), std::memory_order_relaxed);
  return run;
}

std::uint32_t Adoptions::distance(NodeId node) const {
  if (node_.reaches(node)) return 0;
  return node_.core.clusters().together(node_.config.self, node) ? 1 : kFarthest;
}

// ---- the node with room

std::uint32_t Adoptions::room_for_homes() const {
  if (!homes_.may_take()) return 0;
  if (node_.config.limit == ~0ull) return NodeRooms::kWhole;
  HomePressure now = pressure();
  std::uint64_t most = now.limit - std::min<std::uint64_t>(now.limit, node_.config.reserve);
  std::uint64_t kept = node_.predictor.at_full_node().homes_kept(now);
  most -= std::min(most, now.most - std::min(now.most, kept));
  std::uint64_t room = (most - std::min(most, now.homes)) * NodeRooms::kWhole / now.limit;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(room, NodeRooms::kWhole));
}

// presses: the other node has hardly any memory left. If it only has many homes, a node that has as
// many takes none, unless its memory is free: homes would go to and fro between the two.
bool Adoptions::has_room(std::uint64_t blocks, bool presses) const {
  if (!homes_.may_take()) return false;
  if (presses || node_.config.limit == ~0ull) return true;
  if (node_.room() >= blocks + node_.config.reserve) return true;
  HomePressure now = pressure();
  return now.homes + blocks <= std::min(now.most, node_.predictor.at_full_node().homes_kept(now));
}

// Waits for no thread of any node: only for answers that other nodes give at once.
Task<std::uint64_t> Adoptions::adopt(Strand& s, Adopt asked) {
  bool room = has_room(asked.run.count, asked.presses);
  if (!room) mark(Mark::kAdoptsNothing);
  std::uint64_t found = 0;
  BlockRange run = asked.run;
  if (room) run = co_await in_one_region(s, run, found);
  if (!room || run.count == 0) co_return 0;
  Event ask = AskOffer{asked.from, run, OfferWish::kAdopts, s.waiter()};
  std::uint64_t offered = co_await s.call(ask);
  std::uint64_t taken = 0;
  while (taken < offered && run.count > 0 && homes_.may_take()) {
    if (memory_.is_short()) co_await memory_.make_room(s);
    Batch batch = co_await lock_batch(s, run, found);
    bool posts = batch.count > 1 && !node_.reaches(asked.from);
    for (std::uint32_t i = 0; posts && i < batch.count; ++i)
      co_await s.perform(PostFetch{asked.from, batch.runs[i], {.may_take = true}});
    for (std::uint32_t i = 0; i < batch.count; ++i)
      taken += co_await take(s, batch.runs[i], asked.from);
  }
  co_return taken;
}

// The part of the run that is in the allocation of its first block, if homes move there.
Task<BlockRange> Adoptions::in_one_region(Strand& s, BlockRange run, std::uint64_t& found) {
  Event find = RegionFind{BlockId{run.first}, s.waiter()};
  found = co_await s.call(find);
  if (!is_first_touch(home_found(found))) co_return BlockRange{};
  Event extent = RegionExtent{BlockId{run.first}, s.waiter()};
  run.count = std::min(run.count, co_await s.call(extent));
  co_return run;
}

// Locks some of the first blocks of `left`, and moves its begin behind them. What is in use here,
// or has no memory, is left out.
Task<Adoptions::Batch> Adoptions::lock_batch(Strand& s, BlockRange& left, std::uint64_t found) {
  Batch batch;
  while (left.count > 0 && batch.count < kMostRuns) {
    BlockRange run{left.first, 0};
    bool locked = true;
    while (locked && run.count < std::min(left.count, node_.most_of_run())) {
      locked = co_await lock_adopted(s, run.end(), found);
      run.count += locked;
    }
    std::uint64_t seen = run.count + (locked ? 0 : 1);
    left = {left.first + seen, left.count - seen};
    if (run.count == 0) continue;
    bool backed = node_.room() > run.count;
    if (backed) backed = co_await s.perform(Populate{run});
    if (backed) {
      batch.runs[batch.count++] = run;
      continue;
    }
    co_await misses_.leave_out(s, run);
    left.count = 0;
  }
  co_return batch;
}

// The block is not in use here, and its home is not here either: bytes that come would overwrite
// it, if the request is from before its region was freed.
Task<bool> Adoptions::lock_adopted(Strand& s, std::uint64_t block, std::uint64_t found) {
  co_await s.pause();
  BlockEntry& entry = node_.entries[block];
  if (!entry.try_lock_now()) co_return false;
  bool good = entry.state() == BlockState::kInvalid;
  if (good && entry.home() == node_.config.self) {
    std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
    good = word & kMoved;
  }
  if (good) {
    homes_.set_policy(block, found);
  } else {
    co_await node_.unlock_block(s, block, entry.state());
  }
  co_return good;
}

// Takes the homes of those blocks of the run that are offered, and unlocks all. Nothing else is
// known about the others, so their bytes are no copies.
Task<std::uint64_t> Adoptions::take(Strand& s, BlockRange run, NodeId from) {
  std::uint64_t taken = 0;
  while (run.count > 0) {
    Fetched got = co_await fetches_.ask(s, run, from, false, {.may_take = true});
    bool own = got.own || (got.count > 0 && mutant(Mutant::kAdoptsUnoffered));
    BlockRange part{run.first, std::max<std::uint64_t>(got.count, 1)};
    run = {part.end(), run.count - part.count};
    if (!own) {
      mark(Mark::kAdoptsLess);
      co_await misses_.leave_out(s, part);
      continue;
    }
    mark(Mark::kAdopts);
    co_await misses_.enter_homes(s, part, Access::kRead);
    for (std::uint64_t b = part.first; b < part.end(); ++b)
      co_await node_.unlock_block(s, b, BlockState::kHome);
    taken += part.count;
  }
  co_return taken;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
