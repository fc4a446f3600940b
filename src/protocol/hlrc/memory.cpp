#include <algorithm>

#include "protocol/hlrc/hlrc.h"
#include "protocol/sc/pages.h"

// What a node gives back when its memory is short: first what it has no use for (frames of copies
// that died, and of homes that have moved; twins of what is at home here now), then copies.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
void Hlrc::add_idle(std::uint64_t block) {
  if (!idle_.insert(block)) idle_count_.fetch_add(1, std::memory_order_relaxed);
}

void Hlrc::remove_idle(std::uint64_t block) {
  if (!idle_.contains(block)) return;
  idle_.erase(block);
  idle_count_.fetch_sub(1, std::memory_order_relaxed);
}

Task<> Hlrc::evict(Strand& s, BlockRange range, bool punch) {
  co_await enter(s);
  s.runs.clear();
  select_cached(s, range);
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    BlockRange run = s.runs[i];
    std::size_t before = notices_.size();
    co_await invalidate(s, run, punch);
    mark(notices_.size() > before ? Mark::kEvictDirty : Mark::kEvictClean);
  }
  co_await leave(s);
}

Task<> Hlrc::free_memory(Strand& s) { co_await make_room(s, ~0ull, 0); }

Task<> Hlrc::make_room(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  co_await enter(s);
  mark(Mark::kFaultMakesRoom);
  co_await make_room_held(s, blocks, floor);
  co_await leave(s);
}

// Who holds the consistency lock evicts by itself where it faults, or is in a release, after which
// the handler looks again.
Task<> Hlrc::trim(Strand& s) {
  if (!is_over_limit()) co_return;
  co_await s.pause();
  std::uint32_t free = 0;
  if (!consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire)) co_return;
  mark(Mark::kTrims);
  co_await make_room_held(s, low_, config_.floor);
  co_await leave(s);
}

Task<> Hlrc::tidy(Strand& s) {
  if (leaving_.next_run(0, config_.blocks).count == 0) co_return;
  co_await s.pause();
  std::uint32_t free = 0;
  if (!consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire)) co_return;
  co_await give_back_moved(s);
  co_await leave(s);
}

// Until there is room for so many blocks, or no more than `floor` copies are left. Others may enter
// copies meanwhile, so the number of those that go is bounded.
Task<> Hlrc::make_room_held(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  co_await give_back_idle(s, blocks);
  co_await give_back_twins(s, blocks);
  if (room() < blocks) co_await give_back_moved(s);
  // Of the two kinds of copies first that of which there are more.
  bool sequential_first = sequential_ != nullptr && sequential_->copies() > cached();
  if (sequential_first) co_await evict_sequential(s, blocks, floor);
  co_await evict_copies(s, blocks, floor);
  if (!sequential_first) co_await evict_sequential(s, blocks, floor);
}

Task<> Hlrc::evict_sequential(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  if (sequential_ == nullptr) co_return;
  std::uint64_t most = sequential_->copies();
  for (; room() < blocks && sequential_->copies() > floor && most > 0; --most)
    co_await sequential_->evict_next(s);
}

Task<> Hlrc::evict_copies(Strand& s, std::uint64_t blocks, std::uint64_t floor) {
  std::uint64_t most = cached();
  while (room() < blocks && cached() > floor && most > 0) {
    BlockRange run = next_victims();
    if (run.count == 0) break;
    run.count = std::min({run.count, most, cached() - std::min(floor, cached())});
    if (run.count == 0) break;
    most -= run.count;
    co_await invalidate(s, run, true);
  }
}

// The next copies for an eviction, round the space: a copy that came or was written since the hand
// passed it last is passed once more.
BlockRange Hlrc::next_victims() {
  BlockRange run{};
  for (int round = 0; round < 3 && run.count == 0; ++round) {
    BlockRange copies = cached_.next_run(evict_hand_, config_.blocks);
    while (copies.count > 0 && run.count == 0) {
      for (std::uint64_t b = copies.first; b < copies.end() && run.count < kEvictBatch; ++b) {
        if (recent_.contains(b)) {
          if (run.count > 0) break;
          mark(Mark::kEvictSparesRecent);
          recent_.erase(b);
        } else {
          if (run.count == 0) run.first = b;
          ++run.count;
        }
      }
      if (run.count == 0) copies = cached_.next_run(copies.end(), config_.blocks);
    }
    evict_hand_ = run.count > 0 ? run.end() : 0;
  }
  return run;
}

Task<> Hlrc::give_back_idle(Strand& s, std::uint64_t blocks) {
  BlockRange run = idle_.next_run(0, config_.blocks);
  while (run.count > 0 && room() < blocks) {
    mark(Mark::kGivesBackIdle);
    run.count = std::min(run.count, kEvictBatch);
    co_await give_back(s, run);
    run = idle_.next_run(run.end(), config_.blocks);
  }
}

Task<> Hlrc::give_back_twins(Strand& s, std::uint64_t blocks) {
  BlockRange run = spare_.next_run(0, config_.blocks);
  while (run.count > 0 && room() < blocks) {
    mark(Mark::kGivesBackTwin);
    run.count = std::min(run.count, kEvictBatch);
    for (std::uint64_t b = run.first; b < run.end(); ++b) co_await lock_block(s, b);
    BlockRange part{run.first, 0};
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      // Under the locks: it may be a copy again.
      if (spare_.contains(b)) {
        if (part.count == 0) part.first = b;
        ++part.count;
        spare_.erase(b);
      }
      bool ends = part.count > 0 && (part.end() <= b || b + 1 == run.end());
      if (ends) co_await s.perform(DropTwin{part});
      if (ends) part = {b + 1, 0};
    }
    for (std::uint64_t b = run.first; b < run.end(); ++b)
      if (entries_[b].unlock(entries_[b].state())) co_await s.wake(entries_[b].word());
    run = spare_.next_run(run.end(), config_.blocks);
  }
}

// Some of the homes that were offered, round the space.
Task<> Hlrc::give_back_moved(Strand& s) {
  for (std::uint64_t left = kMovedAtOnce; left > 0;) {
    BlockRange run = leaving_.next_run(moved_hand_, config_.blocks);
    moved_hand_ = run.count > 0 ? run.first : 0;
    if (run.count == 0) co_return;
    run.count = std::min({run.count, kMovedBatch, left});
    moved_hand_ = run.end();
    left -= run.count;
    co_await give_back(s, run);
  }
}

// Of the run, the memory of those that need none.
Task<> Hlrc::give_back(Strand& s, BlockRange run) {
  bool unlocked = mutant(Mutant::kGiveBackUnlocked);
  for (std::uint64_t b = run.first; b < run.end() && !unlocked; ++b) co_await lock_block(s, b);
  BlockRange part{run.first, 0};
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool goes = co_await may_go(s, b);
    if (goes) {
      remove_idle(b);
      leaving_.erase(b);
      ++part.count;
    }
    if (part.count > 0 && (!goes || b + 1 == run.end()))
      co_await s.perform(Punch{.blocks = part, .evicts = false});
    if (!goes || b + 1 == run.end()) part = {b + 1, 0};
  }
  for (std::uint64_t b = run.first; b < run.end() && !unlocked; ++b)
    if (entries_[b].unlock(entries_[b].state())) co_await s.wake(entries_[b].word());
}

// Whether what the block has here, whose lock is held, is of no use to anybody.
Task<bool> Hlrc::may_go(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = entries_[block];
  if (entry.state() != BlockState::kInvalid) {
    mark(Mark::kGivesBackNothing);
    remove_idle(block);
    leaving_.erase(block);
    co_return false;
  }
  if (entry.home() != config_.self) {
    leaving_.erase(block);
    co_return idle_.contains(block);
  }
  remove_idle(block);
  std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
  if (word & kMoved) {
    bool arrived = co_await has_arrived(s, block, word);
    if (!arrived) mark(Mark::kGivesBackNotYet);
    co_return arrived;
  }
  if (!(word & kOffered)) leaving_.erase(block);
  co_return word& kOffered&& mutant(Mutant::kGiveBackOffered);
}

// Whether the node that the home went to has its bytes: it says so by its word; for one that takes
// by message, whoever serves it here has copied them.
Task<bool> Hlrc::has_arrived(Strand& s, std::uint64_t block, std::uint32_t word) {
  if (mutant(Mutant::kGiveBackEarly)) co_return true;
  NodeId to = home_in(word);
  if (reaches(to)) {
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
