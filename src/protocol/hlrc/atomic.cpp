#include "protocol/hlrc/hlrc.h"
#include "protocol/serve/served.h"

// Atomic operations on shared words. A copy is no place for them, so they are done in the home's
// memory: by the machine's own atomics where it can be reached, else by whoever serves messages
// there. To the protocol one is a flush of one word: it is counted as storing at a home, ends
// offers, follows homes that move, and gets a notice.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FaultResult> Hlrc::atomic(Strand& s, BlockId id) {
  co_await enter(s);
  co_await lock_block(s, id.value);
  FaultResult result = co_await atomic_held(s, id.value);
  co_await leave(s);
  co_return result;
}

// Gives the block's lock back.
Task<FaultResult> Hlrc::atomic_held(Strand& s, std::uint64_t block) {
  BlockEntry& entry = entries_[block];
  BlockState state = entry.state();
  if (state == BlockState::kClean || state == BlockState::kWritten)
    state = co_await flush_before_atomic(s, block, state);
  std::uint64_t home = entry.home().value;
  if (entry.home() == kNoNode) home = co_await find_home(s, block, Access::kWrite);
  FaultResult result = FaultResult::kDone;
  bool here = home == config_.self.value;
  if (here && state == BlockState::kInvalid && config_.migrate)
    here = co_await still_here(s, block);
  if (home == kHomeNowhere) {
    result = FaultResult::kForeign;
  } else if (here) {
    if (state == BlockState::kInvalid) result = co_await fault_at_home(s, block, Access::kWrite);
    if (result == FaultResult::kDone) {
      state = BlockState::kHome;
      co_await atomic_at_home(s, block);
    }
  } else {
    co_await atomic_elsewhere(s, block);
    bool copy = state != BlockState::kInvalid;
    if (copy && !mutant(Mutant::kAtomicForgetsCopy)) {
      // What this thread reads next by plain loads is not older.
      mark(Mark::kAtomicPatchesCopy);
      bool twinned = scans() || state == BlockState::kWritten;
      entries_[block].news = 0;
      co_await s.perform({.kind = StepKind::kPatch, .flag = twinned, .blocks = {block, 1}});
    }
    bool changed = after(s.atomic, s.before) != s.before;
    if (changed && !mutant(Mutant::kAtomicWithoutNotice)) notice(block);
    if (changed) ++activity_;
  }
  co_await unlock_block(s, block, state);
  co_return result;
}

// What this node's threads wrote to their copy goes home first, so that an operation finds what its
// own thread stored. The copy stays, or has become the home.
Task<BlockState> Hlrc::flush_before_atomic(Strand& s, std::uint64_t block, BlockState state) {
  bool dirty = scans() || state == BlockState::kWritten;
  bool claims = entries_[block].home() == kNoNode;
  if (!dirty && !claims) co_return state;
  if (mutant(Mutant::kAtomicBeforeFlush) && !claims) co_return state;
  close(block);
  if (!scans()) {
    bool written = state == BlockState::kWritten;
    co_await s.view(written ? StepKind::kProtect : StepKind::kCopyTwin, {block, 1});
    written_.erase(block);
  }
  state = co_await flush_copy(s, block, dirty && !scans());
  co_await await_flush(s);
  co_return state;
}

// Readers of a tracked block rely on a notice, which a scan would not give: the store passes by the
// view that it looks at.
Task<bool> Hlrc::atomic_at_home(Strand& s, std::uint64_t block) {
  mark(Mark::kAtomicAtHome);
  s.before = co_await s.at(StepKind::kAtomic, config_.self, BlockId{block});
  bool changed = after(s.atomic, s.before) != s.before;
  bool told = changed && tracked_.contains(block) && !mutant(Mutant::kAtomicKeepsTracked);
  if (told) co_await untrack(s, block);
  co_return true;
}

Task<bool> Hlrc::atomic_elsewhere(Strand& s, std::uint64_t block) {
  NodeId first = entries_[block].home();
  NodeId home = first;
  NodeId via = kNoNode;
  for (;;) {
    bool counted = config_.migrate && reaches(home);
    if (counted && via != kNoNode) {
      std::uint64_t word = co_await s.at(StepKind::kLoadWord, home, BlockId{block});
      if (word & kComing || !(word & (kHere | kMoved))) {
        mark(Mark::kAtomicAsksAgain);
        co_await s.yield();
        home = first;
        via = kNoNode;
        continue;
      }
      via = kNoNode;
    }
    if (counted) {
      co_await s.perform({.kind = StepKind::kCountFlush, .flag = true});
      home = co_await settle(s, block, home, via);
      if (home == kNoNode) {
        co_await s.perform({.kind = StepKind::kCountFlush, .flag = false});
        s.before = 0;
        co_return true;
      }
    }
    bool reached = reaches(home);
    if (reached) {
      mark(Mark::kAtomicElsewhere);
      s.before = co_await s.at(StepKind::kAtomic, home, BlockId{block});
    }
    if (counted) co_await s.perform({.kind = StepKind::kCountFlush, .flag = false});
    if (reached) co_return true;
    std::uint64_t answer = co_await s.at(StepKind::kAskAtomic, home, BlockId{block}, via.value + 1);
    if (answer == kAtomicDone) {
      mark(Mark::kAtomicByMessage);
      if (entries_[block].home() != home) entries_[block].set_home(home);
      co_return true;
    }
    if (answer == kAtomicNotYet) {
      mark(Mark::kAtomicAsksAgain);
      co_await s.yield();
      home = first;
      via = kNoNode;
    } else {
      mark(Mark::kAtomicFollowsHome);
      via = home;
      home = NodeId{static_cast<std::uint32_t>(answer)};
    }
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
