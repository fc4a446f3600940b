// What is asked for ahead of a long stream of misses: several messages' blocks at once, so that the
// home makes one answer while the one before is on its way, and another is entered here.
#include <algorithm>

#include "protocol/hlrc.h"
#include "protocol/served.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// After extend_run(): `run` is what the miss itself is going to fetch, `extent` what the allocation
// has from there on, `wanted` as which homes that come are entered.
Task<bool> Hlrc::ask_ahead(Strand& s, BlockRange run, NodeId home, std::uint64_t extent,
                           Access wanted) {
  std::uint64_t length = streams_.length(run.first);
  bool whole = run.count == config_.max_run;
  if (reaches(home) || !whole || length < config_.ahead_after * config_.max_run) co_return true;
  std::uint64_t end = run.first + extent;
  // What was not asked for as homes comes with the next miss, which asks.
  if (std::uint64_t asked = streams_.asked(run.first); asked > run.first)
    end = std::min(end, asked);
  auto post = [&](BlockRange blocks) {
    return s.perform({.kind = StepKind::kPostFetch,
                      .node = home,
                      .blocks = blocks,
                      .value = may_take() ? kMayTake : 0});
  };
  s.ahead.home = home;
  s.ahead.wanted = wanted;
  s.ahead.extent_end = run.first + extent;
  BlockRange next{run.end(), 0};
  while (next.first < end && s.ahead.count < config_.runs_ahead) {
    if (s.ahead.count == 0) co_await post(run);
    co_await bring_more(s, next, home, true,
                        std::min<std::uint64_t>(end - next.first, config_.max_run));
    if (next.count == 0) break;
    mark(Mark::kFaultAsksAhead);
    co_await post(next);
    s.ahead.runs[s.ahead.count++] = next;
    if (next.count < config_.max_run) break;
    next = {next.end(), 0};
  }
  co_return true;
}

// Enters what was asked for ahead, as far as it comes; of what does not, a miss of its own will ask
// where it is. Homes among it have come here since, and others may wait until they are entered
// while we waited for the miss itself, for a home that was just moving. They cannot wait in a ring:
// what is asked for ahead lies above what the miss itself waits for.
Task<bool> Hlrc::finish_ahead(Strand& s) {
  for (std::uint32_t i = 0; i < s.ahead.count; ++i) {
    BlockRange run = s.ahead.runs[i];
    Fetched got = co_await fetch_by_message(s, run, s.ahead.home, false, may_take() ? kMayTake : 0);
    if (got.count < run.count) mark(Mark::kFaultAheadComesShort);
    if (!mutant(Mutant::kAheadKeepsShort)) {
      co_await leave_out(s, {run.first + got.count, run.count - got.count});
      run.count = got.count;
    }
    if (run.count > 0) co_await enter_ahead(s, run, got);
  }
  s.ahead.count = 0;
  co_return true;
}

Task<bool> Hlrc::enter_ahead(Strand& s, BlockRange run, const Fetched& got) {
  streams_.extend(run.first, run.end() == s.ahead.extent_end ? 0 : run.end());
  if (got.own) {
    mark(Mark::kFaultAheadTakesHome);
    co_await enter_homes(s, run, s.ahead.wanted);
  } else {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      note_miss(b);
      if (scans()) co_await s.view(StepKind::kCopyTwin, {b, 1});
    }
    co_await enter_copies(s, run, Access::kRead);
  }
  BlockState state = got.own ? BlockState::kHome : BlockState::kClean;
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await unlock_block(s, b, state);
  co_return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
