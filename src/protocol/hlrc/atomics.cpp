#include "protocol/hlrc/atomics.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<AtomicDone> Atomics::atomic(Strand& s, BlockId id, AtomicOp op) {
  co_await node_.enter(s);
  co_await node_.lock_block(s, id.value);
  AtomicDone result{.result = FaultResult::kSynchronises};
  if (node_.entries[id.value].synchronises()) {
    co_await node_.unlock_block(s, id.value, node_.entries[id.value].state());
  } else {
    result = co_await atomic_held(s, id.value, op);
  }
  co_await node_.leave(s);
  co_return result;
}

// The block's lock is held; releases it.
Task<AtomicDone> Atomics::atomic_held(Strand& s, std::uint64_t block, const AtomicOp& op) {
  BlockEntry& entry = node_.entries[block];
  BlockState state = entry.state();
  if (state == BlockState::kClean || state == BlockState::kWritten)
    state = co_await flush_before_atomic(s, block, state);
  std::uint64_t home = entry.home().value;
  BlockRange same_owner{};
  if (entry.home() == kNoNode)
    home = co_await homes_.find_home(s, block, Access::kWrite, same_owner);
  AtomicDone done;
  bool here = home == node_.config.self.value;
  if (here && state == BlockState::kInvalid && node_.config.migrate) {
    OfferedHome found = co_await homes_.still_here(s, block);
    here = found != OfferedHome::kGone;
  }
  if (home == kHomeNowhere) {
    done.result = FaultResult::kForeign;
  } else if (here) {
    if (state == BlockState::kInvalid)
      done.result = co_await faults_.fault_at_home(s, {block, 1}, Access::kWrite);
    if (done.result == FaultResult::kDone) {
      state = BlockState::kHome;
      done.before = co_await atomic_at_home(s, block, op);
    }
  } else {
    done.before = co_await atomic_elsewhere(s, block, op);
    bool copy = state != BlockState::kInvalid;
    if (copy && !mutant(Mutant::kAtomicForgetsCopy)) {
      // The next plain load of this thread must not read an older value.
      mark(Mark::kAtomicPatchesCopy);
      bool twinned = has_twin(block, state);
      node_.entries[block].version = 0;
      co_await s.perform(Patch{BlockId{block}, op, done.before, twinned});
    }
    bool changed = after(op, done.before) != done.before;
    // With two nodes, the other one is the home, which has the word. With more nodes, others may
    // have copies. A home that pushes has to know that its bytes may be older than this node's.
    bool others = node_.config.nodes > 2 || !node_.reaches(node_.entries[block].home());
    if (changed && others && !mutant(Mutant::kAtomicWithoutNotice)) notices_.notice(block);
    if (changed) ++node_.activity;
  }
  co_await node_.unlock_block(s, block, state);
  co_return done;
}

// Whether this copy may have been written since the last release.
bool Atomics::has_twin(std::uint64_t block, BlockState state) const {
  if (node_.scans()) return !node_.sealed.contains(block);
  return state == BlockState::kWritten;
}

// Flushes what this node's threads wrote to their copy, so that the operation finds what its own
// thread stored. Result: the block's state. It is still a copy, or this node has become its home.
Task<BlockState> Atomics::flush_before_atomic(Strand& s, std::uint64_t block, BlockState state) {
  bool dirty = has_twin(block, state);
  bool claims = node_.entries[block].home() == kNoNode;
  if (!dirty && !claims) co_return state;
  if (mutant(Mutant::kAtomicBeforeFlush) && !claims) co_return state;
  node_.close(block);
  if (!node_.scans()) {
    bool written = state == BlockState::kWritten;
    if (written) {
      co_await s.perform(Protect{{block, 1}});
    } else {
      co_await s.perform(CopyTwin{BlockId{block}});
    }
    node_.written.erase(block);
  }
  state = co_await flushes_.flush_copy(s, block, dirty && !node_.scans());
  co_await flushes_.await_flush(s);
  co_return state;
}

// Readers of a tracked block rely on a notice. A scan would not find this write, because the
// operation does not store through the application view.
Task<std::uint64_t> Atomics::atomic_at_home(Strand& s, std::uint64_t block, const AtomicOp& op) {
  mark(Mark::kAtomicAtHome);
  std::uint64_t before = co_await s.perform(PerformAtomic{node_.config.self, BlockId{block}, op});
  bool changed = after(op, before) != before;
  bool gives_notice =
      changed && node_.tracked.contains(block) && !mutant(Mutant::kAtomicKeepsTracked);
  if (gives_notice && node_.config.check_races) {
    notices_.notice(block);
  } else if (gives_notice) {
    co_await tracked_homes_.untrack(s, block);
  }
  co_return before;
}

// Result: the word before the operation; 0 if the block's region is being freed.
Task<std::uint64_t> Atomics::atomic_elsewhere(Strand& s, std::uint64_t block, const AtomicOp& op) {
  using enum AtomicAnswer::What;
  NodeId first = node_.entries[block].home();
  NodeId home = first;
  NodeId via = kNoNode;
  for (;;) {
    bool reached = node_.stores_at(home);
    AtomicAnswer answer;
    if (reached) {
      answer = co_await at_home_.atomic(s, home, block, op, node_.config.self, via != kNoNode);
    } else {
      answer = co_await s.perform(AskAtomic{home, BlockId{block}, op, via});
    }
    if (answer.what == kDone) {
      mark(reached ? Mark::kAtomicElsewhere : Mark::kAtomicByMessage);
      if (node_.entries[block].home() != home) node_.entries[block].set_home(home);
      co_return answer.before;
    }
    if (answer.what == kElsewhere) {
      mark(Mark::kAtomicFollowsHome);
      via = home;
      home = answer.ask;
      continue;
    }
    mark(Mark::kAtomicAsksAgain);
    bool freed = co_await homes_.is_freed(s, block);
    if (freed) co_return 0;
    co_await s.yield();
    home = first;
    via = kNoNode;
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
