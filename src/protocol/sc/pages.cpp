#include "protocol/sc/pages.h"

#include "protocol/sc/sc_instrument.h"
#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

Pages::Pages(const PagesConfig& config, const BlockMemory& memory, MemoryRoom& room,
             Ordering& ordering)
    : BlockLocks(memory.entries),
      config_(config),
      reached_(memory.reached),
      room_(room),
      ordering_(ordering),
      copies_(memory.sets[BlockMemory::kScCopies], config.blocks) {}

// The page's lock is not held while the thread waits for the home's answer: a recall of the same
// page may have to come first. So each pass looks at the state again.
Task<FaultResult> Pages::fault(Strand& s, BlockId id, Access wanted) {
  std::uint64_t block = id.value;
  if (room_.is_short()) {
    mark(Mark::kFaultMakesRoom);
    co_await room_.make_room(s);
  }
  for (;;) {
    co_await lock_block(s, block);
    bool synchronises = entries_[block].synchronises();
    BlockState state = entries_[block].state();
    if (synchronises && wanted == Access::kRead && state == BlockState::kInvalid &&
        !config_.protects)
      wanted = Access::kWrite;
    bool may_write = state == BlockState::kWritten;
    if (may_write || (state == BlockState::kClean && wanted == Access::kRead)) {
      mark(Mark::kFaultFindsPagePresent);
      co_await show(s, block, may_write ? Access::kWrite : Access::kRead, false);
      co_await unlock_block(s, block, state);
      co_return FaultResult::kDone;
    }
    std::uint64_t home = co_await find_home(s, block);
    FaultResult result = FaultResult::kForeign;
    if (home == kHomeNowhere) {
      mark(Mark::kFaultOutsideRegions);
    } else {
      bool backed = co_await s.perform(Populate{{block, 1}});
      result = backed ? FaultResult::kDone : FaultResult::kNoMemory;
      if (!backed) mark(Mark::kFaultGivesUp);
      if (is_copy(block)) add_copy(block);
    }
    if (result != FaultResult::kDone) {
      co_await unlock_block(s, block, state);
      co_return result;
    }
    Event ask = ScAsk{id, wanted, NodeId{static_cast<std::uint32_t>(home)}, s.waiter()};
    std::uint64_t answer = co_await s.call(ask);
    auto granted = static_cast<Access>(answer & 3);
    if (granted == Access{}) {
      co_await unlock_block(s, block, state);
      Event await = ScAwait{id, s.waiter()};
      co_await s.call(await);
      continue;
    }
    // What was released before the page left its last writer. A recall of the page waits until it
    // is installed, so the lock need not be held.
    if (answer & kAcquires) {
      co_await unlock_block(s, block, state);
      co_await ordering_.acquire_from(s, acquired_from(answer));
      co_await lock_block(s, block);
    }
    co_await install(s, block, NodeId{static_cast<std::uint32_t>(home)}, granted);
    if (granted >= wanted) co_return FaultResult::kDone;
    mark(Mark::kFaultGrantedTooLittle);
  }
}

// The home by the region's policy.
Task<std::uint64_t> Pages::find_home(Strand& s, std::uint64_t block) {
  NodeId known = entries_[block].home();
  if (known != kNoNode) co_return known.value;
  Event find = RegionFind{BlockId{block}, s.waiter()};
  std::uint64_t home = home_found(co_await s.call(find));
  if (home == kHomeNowhere) co_return home;
  entries_[block].set_home(NodeId{static_cast<std::uint32_t>(home)});
  co_return home;
}

// Under the page's lock, which it releases. Bytes that the grant carried are here already.
Task<> Pages::install(Strand& s, std::uint64_t block, NodeId home, Access granted) {
  bool upgrade = entries_[block].state() == BlockState::kClean;
  bool early = mutant(Mutant::kMapBeforeCopy);
  if (early) co_await show(s, block, granted, upgrade);
  if (home == config_.self) mark(Mark::kInstallAtHome);
  if (upgrade) mark(Mark::kInstallUpgrade);
  if (!upgrade && home != config_.self && reaches(home)) {
    mark(Mark::kInstallCopies);
    co_await s.perform(CopyHome{home, {block, 1}});
  }
  if (!early) co_await show(s, block, granted, upgrade);
  Event installed = ScInstalled{BlockId{block}};
  co_await s.tell(installed);
  co_await unlock_block(s, block,
                        granted == Access::kWrite ? BlockState::kWritten : BlockState::kClean);
}

Task<> Pages::show(Strand& s, std::uint64_t block, Access access, bool upgrade) {
  if (access == Access::kRead && seals(block)) {
    co_await s.perform(Share{{block, 1}});
    co_return;
  }
  co_await s.perform(Map{{block, 1}, access});
  if (upgrade && access == Access::kWrite) co_await s.perform(Unprotect{{block, 1}});
}

// Where the node finds its writes by scan, a store to a synchronisation page must fault all the
// same.
bool Pages::seals(std::uint64_t block) const {
  return config_.seals && entries_[block].synchronises() &&
         !protocol::mutant(protocol::Mutant::kShareUnsealed);
}

Task<bool> Pages::yield(Strand& s, Recall recall, bool waits) {
  std::uint64_t block = recall.block.value;
  bool locks = !mutant(Mutant::kYieldUnlocked);
  if (locks && waits) {
    co_await lock_block(s, block);
  } else if (locks && !entries_[block].try_lock_now()) {
    mark(Mark::kYieldFindsPageBusy);
    co_return false;
  }
  BlockState now = co_await give_up(s, recall, true);
  if (locks) co_await unlock_block(s, block, now);
  co_return true;
}

// The release finds all that was stored before the last store to the page: no thread stores to it
// any more. It takes other locks, so the page's lock is free meanwhile. A thread that wants the
// page then asks for it behind the node that gets it now. The page keeps its memory, from which its
// bytes may be sent: until the home knows, it is not among the copies that may be given back.
Task<> Pages::yield_synchronised(Strand& s, Recall recall) {
  std::uint64_t block = recall.block.value;
  bool early = protocol::mutant(protocol::Mutant::kReleaseBeforeZap);
  if (early) co_await ordering_.release_all(s);
  co_await lock_block(s, block);
  BlockState was = entries_[block].state();
  bool written = was == BlockState::kWritten;
  bool keeps = was != BlockState::kInvalid && recall.keeps_copy && config_.protects;
  recall.keeps_copy = keeps;
  co_await withdraw(s, block, recall);
  if (written) remove_copy(block);
  co_await unlock_block(s, block, keeps ? BlockState::kClean : BlockState::kInvalid);
  if (written && !early && !protocol::mutant(protocol::Mutant::kYieldWithoutRelease)) {
    protocol::mark(protocol::Mark::kYieldReleases);
    co_await ordering_.release_all(s);
  }
  Event yielded = ScYielded{recall.block, recall.home, written, keeps, true};
  co_await s.tell(yielded);
  if (written && is_copy(block)) add_copy(block);
}

// Under the page's lock, also while it steps ScYielded: so the next thread that takes the lock
// finds that the page is not granted here. Result: the new state of the page.
Task<BlockState> Pages::give_up(Strand& s, const Recall& recall, bool asked) {
  std::uint64_t block = recall.block.value;
  BlockState was = entries_[block].state();
  bool early = mutant(Mutant::kYieldBeforeZap);
  BlockState now =
      was == BlockState::kInvalid || !recall.keeps_copy ? BlockState::kInvalid : BlockState::kClean;
  Event yielded = ScYielded{recall.block, recall.home, was == BlockState::kWritten,
                            now == BlockState::kClean, asked};
  if (early) co_await s.tell(yielded);
  co_await withdraw(s, block, recall);
  if (!early) co_await s.tell(yielded);
  co_return mutant(Mutant::kYieldKeepsState) ? was : now;
}

// The page leaves the view, or is protected, before its bytes go to the home: what a thread stored
// in between would be lost.
Task<> Pages::withdraw(Strand& s, std::uint64_t block, const Recall& recall) {
  BlockState was = entries_[block].state();
  bool written = was == BlockState::kWritten;
  bool copies_first =
      mutant(recall.keeps_copy ? Mutant::kCopyBeforeProtect : Mutant::kCopyBeforeZap);
  if (was == BlockState::kInvalid) {
    mark(Mark::kYieldNothing);
    co_return;
  }
  if (written && copies_first) co_await write_back(s, block, recall.home);
  if (!recall.keeps_copy) {
    mark(written ? Mark::kYieldWritten : Mark::kYieldCopy);
    co_await s.perform(Zap{{block, 1}});
  } else if (written && !mutant(Mutant::kKeepUnprotected)) {
    mark(Mark::kYieldKeepsCopy);
    if (seals(block))
      co_await s.perform(Share{{block, 1}});
    else
      co_await s.perform(Protect{{block, 1}});
  }
  if (written && !copies_first) co_await write_back(s, block, recall.home);
}

// If the home's memory is not in reach, the message carries the bytes instead.
Task<> Pages::write_back(Strand& s, std::uint64_t block, NodeId home) {
  bool forgets = mutant(Mutant::kYieldWithoutBytes);
  if (home != config_.self && reaches(home) && !forgets)
    co_await s.perform(StoreHome{home, BlockId{block}});
}

// ---- giving back without a recall

// A block of a freed region has no known home. Its memory may be allocated again with its home
// here; then it has bytes of other nodes, and must not be given back.
bool Pages::is_copy(std::uint64_t block) const {
  NodeId home = entries_[block].home();
  return (home != kNoNode && home != config_.self) || mutant(Mutant::kGiveBackHome);
}

void Pages::add_copy(std::uint64_t block) {
  if (!copies_.insert(block)) copy_count_.fetch_add(1, std::memory_order_relaxed);
}

void Pages::remove_copy(std::uint64_t block) {
  if (!copies_.contains(block)) return;
  copies_.erase(block);
  copy_count_.fetch_sub(1, std::memory_order_relaxed);
}

Task<> Pages::evict(Strand& s, BlockRange range) {
  BlockRange run = copies_.next_run(range.first, range.end());
  while (run.count > 0) {
    for (std::uint64_t b = run.first; b < run.end(); ++b) co_await give_back(s, b, false);
    run = copies_.next_run(run.end(), range.end());
  }
}

Task<> Pages::evict_next(Strand& s) {
  BlockRange run = copies_.next_run(evict_hand_, config_.blocks);
  if (run.count == 0) run = copies_.next_run(0, config_.blocks);
  evict_hand_ = run.first + 1;
  if (run.count > 0) co_await give_back(s, run.first, true);
}

// If the lock is held, its holder needs the page or is taking it away: nothing is done.
Task<bool> Pages::give_back(Strand& s, std::uint64_t block, bool spares) {
  co_await s.pause();
  bool locks = !mutant(Mutant::kGiveBackUnlocked);
  if (locks && !entries_[block].try_lock_now()) {
    mark(Mark::kGiveBackFindsBusy);
    co_return false;
  }
  BlockState state = entries_[block].state();
  if (!copies_.contains(block) || !is_copy(block)) {
    mark(Mark::kGiveBackFindsNoCopy);
    remove_copy(block);
  } else {
    Event goes = ScGiveBack{BlockId{block}, spares, s.waiter()};
    if (co_await s.call(goes) != 0) state = co_await give_back_held(s, block);
  }
  if (locks) co_await unlock_block(s, block, state);
  co_return true;
}

// A recalled page (state kInvalid) may still have memory here. The memory goes last: a message to a
// home that is not in reach is made from it.
Task<BlockState> Pages::give_back_held(Strand& s, std::uint64_t block) {
  BlockState was = entries_[block].state();
  BlockState now = was;
  bool present = was != BlockState::kInvalid;
  bool releases = entries_[block].synchronises() && !config_.sequential;
  if (was == BlockState::kWritten && releases) co_return was;  // this thread may not make one
  if (was == BlockState::kWritten && !co_await home_has_room(s, block)) {
    mark(Mark::kGiveBackFindsHomeFull);
    co_return was;
  }
  mark(!present                      ? Mark::kGiveBackIdle
       : was == BlockState::kWritten ? Mark::kGiveBackWritten
                                     : Mark::kGiveBackCopy);
  bool early = mutant(Mutant::kPunchBeforeCopy);
  if (early) co_await s.perform(Punch{{block, 1}});
  if (present) now = co_await give_up(s, {BlockId{block}, entries_[block].home(), false}, false);
  if (!early) co_await s.perform(Punch{.blocks = {block, 1}, .evicts = present});
  remove_copy(block);
  co_return now;
}

// So that the thread that stores the bytes at the home does not wait for memory while it holds the
// page's lock.
Task<bool> Pages::home_has_room(Strand& s, std::uint64_t block) {
  NodeId home = entries_[block].home();
  if (home == config_.self || !reaches(home)) co_return true;
  co_return co_await s.perform(PopulateAt{home, BlockId{block}}) != 0;
}

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
