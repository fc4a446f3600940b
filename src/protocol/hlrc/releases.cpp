#include "protocol/hlrc/releases.h"

#include "protocol/steps/runs.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<std::uint64_t> Releases::release(Strand& s) {
  if (node_.config.nodes == 1) co_return 0;
  co_await node_.enter(s);
  std::uint64_t number = releases_begun_.load(std::memory_order_relaxed) + 1;
  releases_begun_.store(number);
  clean_taken_.store(node_.taken.load(std::memory_order_acquire), std::memory_order_relaxed);
  co_await find_written(s);
  untracked_ = false;
  for (const BlockRange& run : written_) co_await flush_run(s, run);
  if (!untracked_) co_await tracked_homes_.untrack_idle(s);
  co_await tracked_homes_.track_wanted(s);
  if (!mutant(Mutant::kCloseBeforeFlushed)) co_await flushes_.await_flush(s);
  bool late = mutant(Mutant::kCheckClosesReadsLate);
  if (node_.config.check_accesses && !late) co_await close_accesses(s);
  if (notices_.empty()) {
    mark(Mark::kReleaseWithoutNotices);
  } else {
    Event close = CloseInterval{&notices_.ranges()};
    co_await s.tell(close);
    notices_.clear();
  }
  if (node_.config.check_accesses && late) co_await close_accesses(s);
  if (mutant(Mutant::kCloseBeforeFlushed)) s.set_posted(false);
  clean_count_.store(node_.dirty_count.load(std::memory_order_relaxed), std::memory_order_release);
  releases_ended_.store(number);
  std::uint64_t activity = node_.activity;
  std::vector<BlockRange> told;
  std::uint32_t expiry = begin_expiry(told);
  co_await node_.leave(s);
  co_await finish_expiry(s, expiry, told);
  co_return activity;
}

// What was accessed in an interval is known elsewhere only if the interval is closed. One without
// changes is closed with a notice of a block that it has read, which is as good as any.
Task<> Releases::close_accesses(Strand& s) {
  std::uint64_t block = co_await s.perform(CloseAccesses{node_.core.timestamp()});
  bool is_open = block != CloseAccesses::kNone && notices_.empty();
  if (is_open && !mutant(Mutant::kCheckLeavesReadsOpen)) notices_.notice(block);
}

// Collects in written_ the runs of blocks written since the last release.
Task<> Releases::find_written(Strand& s) {
  written_.clear();
  if (node_.scans()) {
    // If homes and copies alternate, one call looks at both.
    BlockRange run = node_.open.next_run(0, node_.config.blocks);
    while (run.count > 0) {
      if (!mutant(Mutant::kOpenNotCompared)) written_.push_back(run);
      run = node_.open.next_run(run.end(), node_.config.blocks);
    }
    run = next_to_scan(0, node_.config.blocks);
    while (run.count > 0) {
      BlockRange group = runs_near(run);
      if (group.count > run.count) {
        co_await scan_suspects(s, group);
      } else {
        co_await s.perform(Scan{run, &written_});
      }
      run = next_to_scan(group.end(), node_.config.blocks);
    }
  }
  BlockRange run = node_.written.next_run(0, node_.config.blocks);
  while (run.count > 0) {
    written_.push_back(run);
    run = node_.written.next_run(run.end(), node_.config.blocks);
  }
}

// The next copies or tracked homes that a scan has to check for writes.
BlockRange Releases::next_to_scan(std::uint64_t from, std::uint64_t end) const {
  BlockRange run = node_.cached.next_run_with(node_.tracked, from, end);
  while (run.count > 0) {
    BlockRange open = node_.open.next_run(run.first, run.end());
    if (open.count == 0) return run;
    if (open.first > run.first) return {run.first, open.first - run.first};
    run = node_.cached.next_run_with(node_.tracked, open.end(), end);
  }
  return run;
}

// From this run to the last of at least Tunables::look_from runs that are close to each other; this
// run alone, if there are fewer.
BlockRange Releases::runs_near(BlockRange run) const {
  BlockRange group = run, next = run;
  std::uint32_t runs = 0;
  while (next.count > 0 && next.first <= group.end() + node_.config.tunables.near) {
    group.count = next.end() - group.first;
    ++runs;
    next = next_to_scan(next.end(), node_.config.blocks);
  }
  return runs >= node_.config.tunables.look_from ? group : run;
}

// For many runs, of which few may have been written: one call finds out which. It protects nothing,
// because blocks between the runs may be entering or leaving, and their writes must not be
// consumed.
Task<> Releases::scan_suspects(Strand& s, BlockRange group) {
  mark(Mark::kReleaseLooksFirst);
  std::vector<BlockRange> suspects;  // apart: a run that is found may be joined to the last one
  co_await s.perform(Look{group, &suspects});
  for (const BlockRange& all : suspects) {
    BlockRange run = next_to_scan(all.first, all.end());
    while (run.count > 0) {
      co_await s.perform(Scan{run, &written_});
      if (mutant(Mutant::kScansOneSuspect)) break;
      run = next_to_scan(run.end(), all.end());
    }
  }
}

// A run of written blocks: locks them together, protects them by one call if the scan has not done
// so, and flushes them one by one.
Task<> Releases::flush_run(Strand& s, BlockRange run) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.lock_block(s, b);
  if (!node_.scans()) co_await protect_run(s, run);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockState state = co_await flush_block(s, b);
    co_await node_.unlock_block(s, b, state);
  }
}

// Protects those blocks of the run that are not kept open.
Task<> Releases::protect_run(Strand& s, BlockRange run) {
  BlockRange part{run.first, 0};
  while (part.end() < run.end()) {
    BlockRange open = node_.open.next_run(part.first, run.end());
    part.count = (open.count == 0 ? run.end() : open.first) - part.first;
    if (part.count > 0) co_await s.perform(Protect{part});
    part = {open.count == 0 ? run.end() : open.end(), 0};
  }
}

Task<BlockState> Releases::flush_block(Strand& s, std::uint64_t block) {
  BlockState state = node_.entries[block].state();
  bool taken = node_.scans() && node_.written.contains(block);
  node_.written.erase(block);
  // A scan also reports what was never entered, such as a tracked home that has moved away.
  if (state == BlockState::kInvalid && node_.scans() && !taken) co_return state;
  if (node_.sealed.contains(block)) {
    mark(Mark::kReleaseFindsSealed);
    co_return state;
  }
  if (state == BlockState::kHome) {
    if (node_.tracked.contains(block)) {
      untracked_ = true;
      co_await tracked_homes_.found_written(s, block);
    } else if (taken) {
      mark(Mark::kReleaseTellsTaken);
      notices_.notice(block);
    }
    co_return state;
  }
  TERRANE_CHECK(state == (node_.scans() ? BlockState::kClean : BlockState::kWritten),
                "what is found written is a copy or a home");
  state = co_await flushes_.flush_copy(s, block, true);
  co_return state;
}

// Eager release consistency: before a release ends, the copies of what it changed are dropped or
// current, so locks and barriers carry no notices of such blocks. The release sends its notices to
// all nodes (expiry.h). At each node a thread that makes no releases drops the copies, so no such
// thread waits for another one: a releaser waits for the answers without the consistency lock,
// which these threads need.

// Moves what this release has to report into the empty list. Result: the number of the latest
// expiry that was begun. Under the consistency lock.
std::uint32_t Releases::begin_expiry(std::vector<BlockRange>& told) {
  notices_.take_eager(told);
  if (mutant(Mutant::kExpiryForgotten)) told.clear();
  if (!told.empty()) {
    ++expiries_;
    node_.acquired.fetch_add(1);
  }
  for (const BlockRange& run : told) offers_.note_eager_writer(run, node_.config.self);
  return expiries_;
}

// Sends the list, and waits until all copies are dropped. If another thread's release found writes
// of this thread, that release reports them, so this one waits for earlier expiries as well.
// Expiries end in the order in which they began.
Task<> Releases::finish_expiry(Strand& s, std::uint32_t number, std::vector<BlockRange>& told) {
  bool tells = !told.empty();
  if (tells) {
    mark(Mark::kReleaseExpires);
    join(told);
    Event tell = ExpireCopies{&told, s.waiter()};
    co_await s.call(tell);
  }
  std::uint32_t until = tells ? number - 1 : number;
  std::uint32_t seen = expired_.load(std::memory_order_acquire);
  while (static_cast<std::int32_t>(seen - until) < 0) {
    if (!tells && mutant(Mutant::kSiblingsExpiryUnawaited)) co_return;
    mark(Mark::kReleaseWaitsForExpiry);
    co_await s.wait(expired_, seen);
    seen = expired_.load(std::memory_order_acquire);
  }
  if (!tells) co_return;
  expired_.store(number, std::memory_order_release);
  co_await s.wake(expired_);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
