#include "protocol/copies/memory.h"

#include <algorithm>

#include "protocol/sc/pages.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Memory::Memory(NodeState& node, Notices& notices, Invalidation& invalidation)
    : node_(node), notices_(notices), invalidation_(invalidation) {
  // A run and its twins, unless that is a large part of the limit.
  std::uint64_t limit = node.config.limit;
  if (limit != ~0ull)
    low_ = std::min<std::uint64_t>(2 * node.most_of_run(), std::max<std::uint64_t>(2, limit / 8));
}

Task<> Memory::evict(Strand& s, BlockRange range, bool punch) {
  co_await node_.enter(s);
  std::vector<BlockRange> runs;
  node_.select_cached(runs, range);
  for (const BlockRange& run : runs) {
    std::size_t before = notices_.size();
    co_await invalidation_.invalidate(s, run, punch);
    mark(notices_.size() > before ? Mark::kEvictDirty : Mark::kEvictClean);
  }
  co_await node_.leave(s);
}

Task<> Memory::free_memory(Strand& s) { co_await make_room(s, ~0ull, 0); }

Task<> Memory::make_room(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  co_await node_.enter(s);
  mark(Mark::kFaultMakesRoom);
  co_await make_room_held(s, blocks, floor);
  co_await node_.leave(s);
}

Task<> Memory::trim(Strand& s) {
  if (!is_over_limit()) co_return;
  co_await s.pause();
  if (!node_.try_enter()) co_return;
  mark(Mark::kTrims);
  co_await make_room_held(s, low_, node_.config.floor);
  co_await node_.leave(s);
}

Task<> Memory::tidy(Strand& s) {
  if (node_.leaving.next_run(0, node_.config.blocks).count == 0) co_return;
  co_await s.pause();
  if (!node_.try_enter()) co_return;
  co_await give_back_moved(s);
  co_await node_.leave(s);
}

// Gives back memory until there is room for so many blocks, or at most `floor` copies are left.
// Other threads may enter copies meanwhile, so the number of evictions is bounded.
Task<> Memory::make_room_held(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  co_await give_back_idle(s, blocks);
  co_await give_back_twins(s, blocks);
  if (node_.room() < blocks) co_await give_back_moved(s);
  // Evicts first copies of the kind of which there are more.
  bool sequential_first = sequential_ != nullptr && sequential_->copies() > node_.copies();
  if (sequential_first) co_await evict_sequential(s, blocks, floor);
  co_await evict_copies(s, blocks, floor);
  if (!sequential_first) co_await evict_sequential(s, blocks, floor);
}

Task<> Memory::evict_sequential(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  if (sequential_ == nullptr) co_return;
  std::uint64_t most = sequential_->copies();
  for (; node_.room() < blocks && sequential_->copies() > floor && most > 0; --most)
    co_await sequential_->evict_next(s);
}

Task<> Memory::evict_copies(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  std::uint64_t most = node_.copies();
  while (node_.room() < blocks && node_.copies() > floor && most > 0) {
    BlockRange run = next_victims();
    if (run.count == 0) break;
    run.count = std::min({run.count, most, node_.copies() - std::min(floor, node_.copies())});
    if (run.count == 0) break;
    most -= run.count;
    co_await invalidation_.invalidate(s, run, true);
  }
}

// The next copies to evict, in circular order. A copy that was entered or written since the clock
// hand passed it last is passed once more.
BlockRange Memory::next_victims() {
  BlockRange run{};
  for (int round = 0; round < 3 && run.count == 0; ++round) {
    BlockRange copies = node_.cached.next_run(evict_hand_, node_.config.blocks);
    while (copies.count > 0 && run.count == 0) {
      for (std::uint64_t b = copies.first; b < copies.end() && run.count < kEvictBatch; ++b) {
        if (node_.recent.contains(b)) {
          if (run.count > 0) break;
          mark(Mark::kEvictSparesRecent);
          node_.recent.erase(b);
        } else {
          if (run.count == 0) run.first = b;
          ++run.count;
        }
      }
      if (run.count == 0) copies = node_.cached.next_run(copies.end(), node_.config.blocks);
    }
    evict_hand_ = run.count > 0 ? run.end() : 0;
  }
  return run;
}

Task<> Memory::give_back_idle(Strand& s, std::uint64_t blocks) {
  BlockRange run = node_.idle.next_run(0, node_.config.blocks);
  while (run.count > 0 && node_.room() < blocks) {
    mark(Mark::kGivesBackIdle);
    run.count = std::min(run.count, kEvictBatch);
    co_await give_back(s, run);
    run = node_.idle.next_run(run.end(), node_.config.blocks);
  }
}

Task<> Memory::give_back_twins(Strand& s, std::uint64_t blocks) {
  BlockRange run = node_.spare.next_run(0, node_.config.blocks);
  while (run.count > 0 && node_.room() < blocks) {
    mark(Mark::kGivesBackTwin);
    run.count = std::min(run.count, kEvictBatch);
    for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.lock_block(s, b);
    BlockRange part{run.first, 0};
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      // Under the locks: the block may be a copy again.
      if (node_.spare.contains(b)) {
        if (part.count == 0) part.first = b;
        ++part.count;
        node_.spare.erase(b);
      }
      bool ends = part.count > 0 && (part.end() <= b || b + 1 == run.end());
      if (ends) co_await s.perform(DropTwin{part});
      if (ends) part = {b + 1, 0};
    }
    for (std::uint64_t b = run.first; b < run.end(); ++b)
      if (node_.entries[b].unlock(node_.entries[b].state()))
        co_await s.wake(node_.entries[b].word());
    run = node_.spare.next_run(run.end(), node_.config.blocks);
  }
}

// Gives back memory of some of the homes that were offered, in circular order.
Task<> Memory::give_back_moved(Strand& s) {
  for (std::uint64_t left = kMovedAtOnce; left > 0;) {
    BlockRange run = node_.leaving.next_run(moved_hand_, node_.config.blocks);
    moved_hand_ = run.count > 0 ? run.first : 0;
    if (run.count == 0) co_return;
    run.count = std::min({run.count, kMovedBatch, left});
    moved_hand_ = run.end();
    left -= run.count;
    co_await give_back(s, run);
  }
}

// Gives back the memory of those blocks of the run that need none.
Task<> Memory::give_back(Strand& s, BlockRange run) {
  bool unlocked = mutant(Mutant::kGiveBackUnlocked);
  for (std::uint64_t b = run.first; b < run.end() && !unlocked; ++b)
    co_await node_.lock_block(s, b);
  BlockRange part{run.first, 0};
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool goes = co_await may_go(s, b);
    if (goes) {
      node_.remove_idle(b);
      node_.leaving.erase(b);
      ++part.count;
    }
    if (part.count > 0 && (!goes || b + 1 == run.end()))
      co_await s.perform(Punch{.blocks = part, .evicts = false});
    if (!goes || b + 1 == run.end()) part = {b + 1, 0};
  }
  for (std::uint64_t b = run.first; b < run.end() && !unlocked; ++b)
    if (node_.entries[b].unlock(node_.entries[b].state())) co_await s.wake(node_.entries[b].word());
}

// Whether the memory of the block, whose lock is held, is of no use to any node.
Task<bool> Memory::may_go(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = node_.entries[block];
  if (entry.state() != BlockState::kInvalid) {
    mark(Mark::kGivesBackNothing);
    node_.remove_idle(block);
    node_.leaving.erase(block);
    co_return false;
  }
  if (entry.home() != node_.config.self) {
    node_.leaving.erase(block);
    co_return node_.idle.contains(block);
  }
  node_.remove_idle(block);
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  if (word & kMoved) {
    bool arrived = co_await has_arrived(s, block, word);
    if (!arrived) mark(Mark::kGivesBackNotYet);
    co_return arrived;
  }
  if (!(word & kOffered)) node_.leaving.erase(block);
  co_return word& kOffered&& mutant(Mutant::kGiveBackOffered);
}

// Whether the node to which the home moved has its bytes. The node's word says so, if it can be
// reached. For a node that takes homes by messages, the thread of this node that serves it copies
// the bytes; LoadGiving shows whether such a copy is under way.
Task<bool> Memory::has_arrived(Strand& s, std::uint64_t block, std::uint32_t word) {
  if (mutant(Mutant::kGiveBackEarly)) co_return true;
  NodeId to = home_in(word);
  if (node_.reaches(to)) {
    std::uint32_t there = co_await s.perform(LoadWord{to, BlockId{block}});
    if (!(there & kComing)) mark(Mark::kGivesBackMoved);
    co_return !(there & kComing);
  }
  std::uint64_t giving = co_await s.perform(LoadGiving{});
  if (giving == 0) mark(Mark::kGivesBackMovedByMessage);
  co_return giving == 0;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
