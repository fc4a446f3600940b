#include <algorithm>

#include "protocol/hlrc/hlrc.h"
#include "protocol/steps/runs.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The next block of the last range, the one that is its last, or a range of its own.
void Hlrc::add_block(std::vector<BlockRange>& to, std::uint64_t block) {
  if (!to.empty()) {
    BlockRange& last = to.back();
    if (block + 1 == last.end() && last.count > 0) return;
    if (block == last.end()) {
      ++last.count;
      return;
    }
  }
  to.push_back({block, 1});
}

void Hlrc::track(std::uint64_t block) {
  disturbed_.fetch_add(1, std::memory_order_release);
  tracked_.insert(block);
}

void Hlrc::notice(std::uint64_t block) {
  disturbed_.fetch_add(1, std::memory_order_release);
  if (entries_[block].eager()) {
    add_block(eager_, block);
    return;
  }
  if (notices_.size() >= most_notices_) {
    mark(Mark::kNoticesJoined);
    join(notices_);
    most_notices_ = std::max(config_.tunables.most_notices, 2 * notices_.size());
  }
  add_block(notices_, block);
}

// Everything that this node's threads wrote goes home, and becomes an interval; afterwards the
// release may be seen. Result: this node's activity.
Task<std::uint64_t> Hlrc::release(Strand& s) {
  if (config_.nodes == 1) co_return 0;
  co_await enter(s);
  std::uint64_t number = releases_begun_.load(std::memory_order_relaxed) + 1;
  releases_begun_.store(number);
  settled_taken_.store(taken_.load(std::memory_order_acquire), std::memory_order_relaxed);
  co_await find_written(s);
  // An operation below may reuse s.runs; the runs are walked by index and only evict, which is not
  // below, touches them.
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    BlockRange run = s.runs[i];
    co_await flush_run(s, run);
  }
  co_await track_wanted(s);
  if (!mutant(Mutant::kCloseBeforeFlushed)) co_await await_flush(s);
  if (notices_.empty()) {
    mark(Mark::kReleaseWithoutNotices);
  } else {
    Event close = CloseInterval{&notices_};
    co_await s.tell(close);
    notices_.clear();
    most_notices_ = config_.tunables.most_notices;
  }
  if (mutant(Mutant::kCloseBeforeFlushed)) s.posted = false;
  settled_.store(disturbed_.load(std::memory_order_relaxed), std::memory_order_release);
  releases_ended_.store(number);
  std::uint64_t activity = activity_;
  std::uint32_t expiry = begin_expiry(s);
  co_await leave(s);
  co_await finish_expiry(s, expiry);
  co_return activity;
}

// What was posted to homes whose memory cannot be reached has arrived there afterwards.
Task<> Hlrc::await_flush(Strand& s) {
  if (!s.posted) co_return;
  mark(Mark::kFlushAwaited);
  co_await s.perform(AwaitFlush{});
  s.posted = false;
}

// The runs of blocks written since the last release -> s.runs.
Task<> Hlrc::find_written(Strand& s) {
  s.runs.clear();
  if (scans()) {
    // Where homes and copies alternate, one call looks at both.
    BlockRange run = open_.next_run(0, config_.blocks);
    while (run.count > 0) {
      if (!mutant(Mutant::kOpenNotCompared)) s.runs.push_back(run);
      run = open_.next_run(run.end(), config_.blocks);
    }
    run = next_to_scan(0, config_.blocks);
    while (run.count > 0) {
      BlockRange group = runs_near(run);
      if (group.count > run.count) {
        co_await scan_suspects(s, group);
      } else {
        co_await s.perform(Scan{run, &s.runs});
      }
      run = next_to_scan(group.end(), config_.blocks);
    }
  }
  BlockRange run = written_.next_run(0, config_.blocks);
  while (run.count > 0) {
    s.runs.push_back(run);
    run = written_.next_run(run.end(), config_.blocks);
  }
}

// The next copies or tracked homes of which a scan has to tell whether they were written.
BlockRange Hlrc::next_to_scan(std::uint64_t from, std::uint64_t end) const {
  BlockRange run = cached_.next_run_with(tracked_, from, end);
  while (run.count > 0) {
    BlockRange open = open_.next_run(run.first, run.end());
    if (open.count == 0) return run;
    if (open.first > run.first) return {run.first, open.first - run.first};
    run = cached_.next_run_with(tracked_, open.end(), end);
  }
  return run;
}

// From the run up to the last of at least Tunables::look_from runs that lie close to each other;
// the run alone where there are fewer.
BlockRange Hlrc::runs_near(BlockRange run) const {
  BlockRange group = run, next = run;
  std::uint32_t runs = 0;
  while (next.count > 0 && next.first <= group.end() + config_.tunables.near) {
    group.count = next.end() - group.first;
    ++runs;
    next = next_to_scan(next.end(), config_.blocks);
  }
  return runs >= config_.tunables.look_from ? group : run;
}

// Of many runs, of which few may have been written, one call tells which. That protects nothing:
// what lies between them may be coming or going, and its writes are not ours to take.
Task<> Hlrc::scan_suspects(Strand& s, BlockRange group) {
  mark(Mark::kReleaseLooksFirst);
  std::size_t before = s.runs.size();
  co_await s.perform(Look{group, &s.runs});
  std::vector<BlockRange> suspects(s.runs.begin() + static_cast<std::ptrdiff_t>(before),
                                   s.runs.end());
  s.runs.resize(before);
  for (const BlockRange& all : suspects) {
    BlockRange run = next_to_scan(all.first, all.end());
    while (run.count > 0) {
      co_await s.perform(Scan{run, &s.runs});
      if (mutant(Mutant::kScansOneSuspect)) break;
      run = next_to_scan(run.end(), all.end());
    }
  }
}

// A run of written blocks: locked together, protected by one call where the scan has not done so,
// flushed one by one.
Task<> Hlrc::flush_run(Strand& s, BlockRange run) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await lock_block(s, b);
  if (!scans()) co_await protect_run(s, run);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = co_await flush_block(s, b);
    co_await unlock_block(s, b, state);
  }
}

// Those of the run that are not kept open.
Task<> Hlrc::protect_run(Strand& s, BlockRange run) {
  BlockRange part{run.first, 0};
  while (part.end() < run.end()) {
    BlockRange open = open_.next_run(part.first, run.end());
    part.count = (open.count == 0 ? run.end() : open.first) - part.first;
    if (part.count > 0) co_await s.perform(Protect{part});
    part = {open.count == 0 ? run.end() : open.end(), 0};
  }
}

Task<BlockState> Hlrc::flush_block(Strand& s, std::uint64_t block) {
  BlockState state = entries_[block].state();
  bool taken = scans() && written_.contains(block);
  written_.erase(block);
  if (state == BlockState::kHome) {
    if (tracked_.contains(block)) {
      co_await untrack(s, block);
    } else if (taken) {
      mark(Mark::kReleaseTellsTaken);
      notice(block);
    }
    co_return state;
  }
  TERRANE_CHECK(state == (scans() ? BlockState::kClean : BlockState::kWritten),
                "what is found written is a copy or a home");
  state = co_await flush_copy(s, block, true);
  co_return state;
}

// What a copy has more than its home goes there; it stays a copy, protected, or becomes the home.
// written: it is known that somebody wrote to it.
Task<BlockState> Hlrc::flush_copy(Strand& s, std::uint64_t block, bool written) {
  if (config_.migrate) {
    bool taken = co_await take_at_flush(s, block);
    if (taken) co_return BlockState::kHome;
  }
  bool open = open_.contains(block) && !scans();
  bool update_twin = scans() || (open && !mutant(Mutant::kOpenKeepsTwin));
  Pushed pushed = co_await push_changes(s, block, update_twin, written);
  if (!pushed.mine) {
    recent_.insert(block);
    note_flush(block, pushed.changed);
    if (!open) co_return BlockState::kClean;
    if (!mutant(Mutant::kOpenNotCompared)) written_.insert(block);  // writes to it are not detected
    co_return BlockState::kWritten;
  }
  // Nobody had claimed it: our copy is the home's from now on.
  mark(Mark::kReleaseClaimsHome);
  leases_.erase(block);
  remove_cached(block);
  spare_.insert(block);
  bool free = !tracked_.contains(block) || mutant(Mutant::kTrackCopies);
  if (!scans() && free) co_await s.perform(Unprotect{{block, 1}});
  co_return BlockState::kHome;
}

// A copy that the predictor keeps open is compared by the next releases without asking. One that it
// does not is closed. That needs no step: it counts as written until the next release has found it
// so, and protected it.
void Hlrc::note_flush(std::uint64_t block, bool changed) {
  predictor_.compared(block, changed);
  bool keeps = predictor_.keeps_open(block);
  if (open_.contains(block)) {
    if (keeps) return;
    mark(Mark::kReleaseClosesCopy);
    close(block);
    return;
  }
  if (!keeps || open_count_.load() >= kMostOpen) return;
  mark(Mark::kReleaseOpensCopy);
  open_.insert(block);
  open_count_.fetch_add(1);
}

void Hlrc::close(std::uint64_t block) {
  if (!open_.contains(block)) return;
  open_.erase(block);
  open_count_.fetch_sub(1);
}

// Brings a copy's changed bytes home and gives notice. written: it is known that somebody wrote to
// it.
Task<Hlrc::Pushed> Hlrc::push_changes(Strand& s, std::uint64_t block, bool update_twin,
                                      bool written) {
  NodeId home = entries_[block].home();
  if (home == kNoNode) {
    std::uint32_t mine = config_.self.value + 1;
    Owner owner = co_await ask_owner(s, block, mine);
    home = NodeId{owner.entry - 1};
    entries_[block].set_home(home, true);
    if (owner.entry == mine) co_return Pushed{.mine = true};
    mark(Mark::kReleaseLosesClaim);
  }
  bool counted = config_.migrate && reaches(home);
  NodeId via = kNoNode;
  if (counted) {
    co_await s.perform(CountFlush{true});
    home = co_await settle(s, block, home, via);
    if (home == kNoNode) {
      co_await s.perform(CountFlush{false});
      co_return Pushed{};
    }
  }
  BlockId id{block};
  std::uint64_t changed = 0;
  if (reaches(home)) {
    changed = co_await s.perform(StoreDiff{home, id, update_twin});
  } else {
    changed = co_await s.perform(PostDiff{home, id, via, update_twin});
  }
  if (counted) co_await s.perform(CountFlush{false});
  if (changed > 0 && !reaches(home)) s.posted = true;
  if (changed > 0) {
    ++activity_;
    // Others may write over it before the home sends news again, with what was there before.
    if (!mutant(Mutant::kFlushKeepsSerial)) entries_[block].news = 0;
    mark(Mark::kReleaseFlushesDiff);
    notice(block);
  } else {
    mark(Mark::kReleaseFindsNothingChanged);
    bool tells = config_.migrate && written && predictor_.tells_unchanged(block);
    if (tells) {
      mark(Mark::kReleaseTellsUnchanged);
      notice(block);
    }
  }
  co_return Pushed{.changed = changed > 0};
}

// A tracked home block was written: it goes back to leases, with a notice for the copies that rely
// on one.
Task<> Hlrc::untrack(Strand& s, std::uint64_t block) {
  mark(Mark::kReleaseUntracksHome);
  if (mutant(Mutant::kKeepTrackedWhenWritten)) co_return;
  co_await store_word(s, block, kHere);
  tracked_.erase(block);
  predictor_.written_when_tracked(block);
  notice(block);
}

// Readers asked for these home blocks since the last release: protect them, then let readers keep
// their copies until a notice, as the predictor says.
Task<> Hlrc::track_wanted(Strand& s) {
  s.runs.clear();
  co_await s.perform(TakeWanted{&s.runs});
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    BlockRange taken = s.runs[i];
    BlockRange run{taken.first, 0};
    for (std::uint64_t b = taken.first; b < taken.end(); ++b) {
      // One that is tracked already is not protected once more: that would hide what was written
      // since the scan.
      bool again = predictor_.tracks(b) && (!tracked_.contains(b) || mutant(Mutant::kTrackAgain));
      if (again && run.end() == b) {
        ++run.count;
        continue;
      }
      if (run.count > 0) co_await track_run(s, run);
      run = again ? BlockRange{b, 1} : BlockRange{b + 1, 0};
    }
    if (run.count > 0) co_await track_run(s, run);
  }
}

// The planted fault kPublishBeforeProtect alone: readers may rely on notices too early.
Task<> Hlrc::publish(Strand& s, BlockRange run) {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (!tracked_.contains(b)) co_await s.perform(StoreWord{BlockId{b}, kTracked});
}

// Protects and publishes those of the run that are this node's to track.
Task<> Hlrc::track_run(Strand& s, BlockRange run) {
  if (mutant(Mutant::kPublishBeforeProtect)) co_await publish(s, run);
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await lock_block(s, b);
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = co_await trackable(s, part.end());
      if (!may) break;
      ++part.count;
    }
    if (part.count > 0) {
      co_await track_part(s, part);
      b = part.end();
    } else {
      co_await unlock_block(s, b, entries_[b].state());
      ++b;
    }
  }
}

// A home by policy that this node never touched is not in its entry yet. A copy is never ours,
// whatever a reader thought who asked before the block was freed and allocated again.
Task<bool> Hlrc::trackable(Strand& s, std::uint64_t block) {
  const BlockEntry& entry = entries_[block];
  // Another thread may have taken the home meanwhile, tracks it, and writes it.
  if (tracked_.contains(block) && !mutant(Mutant::kTrackAgain)) co_return false;
  if (entry.state() == BlockState::kHome || mutant(Mutant::kTrackCopies)) co_return true;
  bool here = entry.state() == BlockState::kInvalid &&
              (entry.home() == config_.self || entry.home() == kNoNode);
  if (!here || !config_.migrate || mutant(Mutant::kTrackOffered)) co_return here;
  std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
  if (word & (kOffered | kMoved)) mark(Mark::kReleaseLeavesOffered);
  co_return !(word & (kOffered | kMoved));
}

Task<> Hlrc::track_part(Strand& s, BlockRange run) {
  co_await s.perform(Protect{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = entries_[b].state();
    mark(state == BlockState::kHome ? Mark::kReleaseTracksWanted : Mark::kReleaseTracksUnmapped);
    track(b);
    // A reader may have asked before the block was freed: then it is not known whose it is.
    bool here = entries_[b].home() == config_.self || mutant(Mutant::kTrackSaysHere);
    co_await store_word(s, b, here ? kTracked | kHere : kTracked);
    co_await unlock_block(s, b, state);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
