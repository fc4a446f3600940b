#include "protocol/copies/flushes.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<BlockState> Flushes::flush_copy(Strand& s, std::uint64_t block, bool written) {
  if (node_.config.migrate) {
    bool taken = co_await take_home_at_flush(s, block);
    if (taken) co_return BlockState::kHome;
  }
  bool open = node_.open.contains(block) && !node_.scans();
  bool update_twin = node_.scans() || (open && !mutant(Mutant::kOpenKeepsTwin));
  Flushed flushed = co_await flush_changes(s, block, update_twin, written);
  if (!flushed.mine) {
    node_.recent.insert(block);
    note_flush(block, flushed.changed);
    if (!open) co_return BlockState::kClean;
    if (!mutant(Mutant::kOpenNotCompared))
      node_.written.insert(block);  // writes to it are not detected
    co_return BlockState::kWritten;
  }
  // No node had claimed the block: this copy is the home from now on.
  mark(Mark::kReleaseClaimsHome);
  node_.leases.erase(block);
  node_.remove_cached(block);
  if (node_.config.check_races) {
    co_await homes_.track_checked(s, block);
    co_await notices_.compare_home(s, block);
    co_return BlockState::kHome;
  }
  node_.spare.insert(block);
  bool free = !node_.tracked.contains(block) || mutant(Mutant::kTrackCopies);
  if (!node_.scans() && free) co_await s.perform(Unprotect{{block, 1}});
  co_return BlockState::kHome;
}

// If the home of a copy that this node has changed is offered to this node, it takes the home. Then
// no difference has to be stored there.
Task<bool> Flushes::take_home_at_flush(Strand& s, std::uint64_t block) {
  NodeId home = node_.entries[block].home();
  if (home == kNoNode || !node_.reaches(home)) co_return false;
  std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
  if (!homes_.is_armed_for_us(word)) co_return false;
  bool taken = co_await homes_.take(s, block, home, word);
  if (!taken) co_return false;
  mark(Mark::kReleaseTakesHome);
  co_await s.perform(CopyHome{.node = home, .blocks = {block, 1}, .slot = 0});
  co_await s.perform(Merge{.block = BlockId{block}, .slot = 0, .merges = true});
  co_await homes_.become_home(s, {block, 1}, false);
  if (!node_.scans()) co_await s.perform(Unprotect{{block, 1}});
  bool gives_notice = word & kTracked || !mutant(Mutant::kTakeTrustsWord);
  if (gives_notice && !mutant(Mutant::kTakeForgetsTracked)) notices_.notice(block);
  co_return true;
}

// What a home that looks for races gets to know with a difference.
std::span<const std::uint32_t> Flushes::known_to_homes() const {
  if (!node_.config.check_races) return {};
  return node_.core.timestamp();
}

// The next releases compare a copy that the predictor keeps open, whether or not a write was
// detected. A copy that it does not keep open any more is closed. That needs no step: the copy
// counts as written until the next release finds it written and protects it.
void Flushes::note_flush(std::uint64_t block, bool changed) {
  node_.predictor.compared(block, changed);
  bool keeps = node_.predictor.keeps_open(block);
  if (node_.open.contains(block)) {
    if (keeps) return;
    mark(Mark::kReleaseClosesCopy);
    node_.close(block);
    return;
  }
  if (!keeps || node_.open_count.load() >= kMostOpen) return;
  mark(Mark::kReleaseOpensCopy);
  node_.open.insert(block);
  node_.open_count.fetch_add(1);
}

Task<Flushed> Flushes::flush_changes(Strand& s, std::uint64_t block, bool update_twin,
                                     bool written) {
  NodeId home = node_.entries[block].home();
  if (home == kNoNode) {
    std::uint32_t mine = node_.config.self.value + 1;
    Owner owner = co_await homes_.claim_owner(s, block);
    home = NodeId{owner.entry - 1};
    node_.entries[block].set_home(home, true);
    if (owner.entry == mine) node_.add_home(block);
    if (owner.entry == mine) co_return Flushed{.mine = true};
    mark(Mark::kReleaseLosesClaim);
  }
  bool counted = node_.config.migrate && node_.reaches(home);
  NodeId via = kNoNode;
  if (counted) {
    co_await s.perform(CountFlush{true});
    home = co_await homes_.settle(s, block, home, via);
    if (home == kNoNode) {
      co_await s.perform(CountFlush{false});
      co_return Flushed{};
    }
  }
  BlockId id{block};
  std::uint64_t changed = 0;
  bool stores = node_.stores_at(home);
  if (stores) {
    changed = co_await s.perform(StoreDiff{home, id, update_twin});
  } else {
    changed = co_await s.perform(PostDiff{home, id, via, update_twin, known_to_homes()});
  }
  if (counted) co_await s.perform(CountFlush{false});
  if (changed > 0 && !stores) s.set_posted(true);
  if (changed > 0) {
    ++node_.activity;
    node_.predictor.at_full_node().stored(block);
    // Other nodes may restore the old bytes before the home pushes the block again.
    if (!mutant(Mutant::kFlushKeepsVersion)) node_.entries[block].version = 0;
    mark(Mark::kReleaseFlushesDiff);
    notices_.notice(block);
  } else {
    mark(Mark::kReleaseFindsNothingChanged);
    bool tells = node_.config.migrate && written && node_.predictor.tells_unchanged(block);
    if (tells) {
      mark(Mark::kReleaseTellsUnchanged);
      notices_.notice(block);
    }
  }
  co_return Flushed{.changed = changed > 0};
}

Task<> Flushes::await_flush(Strand& s) {
  if (!s.has_posted()) co_return;
  mark(Mark::kFlushAwaited);
  co_await s.perform(AwaitFlush{});
  s.set_posted(false);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
