// What is asked for ahead of a long stream of misses: several messages' blocks at once, so that the
// home makes one answer while the one before is on its way, and another is entered here.
#include <algorithm>

#include "protocol/hlrc/hlrc.h"
#include "protocol/serve/served.h"

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
    bool known = co_await knows_home(s, next.first, home);
    if (!known) break;
    co_await bring_more(s, next, home, true,
                        std::min<std::uint64_t>(end - next.first, config_.max_run));
    if (next.count == 0) break;
    mark(Mark::kFaultAsksAhead);
    co_await post(next);
    s.ahead.runs[s.ahead.count++] = next;
    if (next.count < config_.max_run) break;
    next = {next.end(), 0};
  }
  if (s.ahead.count > 0) co_await ask_offers_ahead(s, run, s.ahead.runs[s.ahead.count - 1].end());
  co_return true;
}

// A directory names the owner of some blocks at a time. That of those behind is asked while others
// are on their way.
Task<bool> Hlrc::knows_home(Strand& s, std::uint64_t block, NodeId home) {
  bool told = s.alike.first <= block && block < s.alike.end();
  if (told || entries_[block].home() != kNoNode || reaches(directory(block))) co_return true;
  mark(Mark::kFaultAsksOwnerAhead);
  std::uint64_t owner = co_await ask_owner(s, StepKind::kLoadOwner, block);
  bool same = owner == home.value + 1 || (owner != 0 && mutant(Mutant::kAheadTrustsOwner));
  if (!same) s.alike = {};
  co_return same;
}

// A stream whose homes were asked for comes near the end of those, by two misses: the next are, and
// will have been offered before it is there. Nobody waits for that, and nobody learns of a home
// that cannot now.
Task<bool> Hlrc::ask_offers_ahead(Strand& s, BlockRange miss, std::uint64_t reached) {
  std::uint64_t asked = streams_.asked(miss.first);
  std::uint64_t near = 2 * std::uint64_t{config_.runs_ahead + 1} * config_.max_run;
  bool asks = config_.migrate && entries_[miss.first].movable() && may_take() &&
              asked > miss.first && asked < reached + near && asked < s.ahead.extent_end;
  if (!asks || !worth_asking(miss.first, s.ahead.wanted)) co_return true;
  mark(Mark::kFaultAsksForHomesAhead);
  BlockRange next{asked, std::min<std::uint64_t>(config_.most_asked, s.ahead.extent_end - asked)};
  Event ask = AskOffer{s.ahead.home, next, s.ahead.wanted == Access::kRead, kNobody};
  co_await s.tell(ask);
  streams_.note_asked(miss.first, next.end());
  co_return true;
}

// Enters what was asked for ahead, as far as it comes; of what does not, a miss of its own will ask
// where it is. Homes among it have come here since, and others may wait until they are entered
// while we waited for the miss itself, for a home that was just moving. They cannot wait in a ring:
// what is asked for ahead lies above what the miss itself waits for.
Task<bool> Hlrc::finish_ahead(Strand& s) {
  std::uint64_t reached = s.ahead.miss_end;
  for (std::uint32_t i = 0; i < s.ahead.count; ++i) {
    BlockRange run = s.ahead.runs[i];
    Fetched got = co_await fetch_by_message(s, run, s.ahead.home, false, may_take() ? kMayTake : 0);
    if (got.count < run.count) mark(Mark::kFaultAheadComesShort);
    if (!mutant(Mutant::kAheadKeepsShort)) {
      co_await leave_out(s, {run.first + got.count, run.count - got.count});
      run.count = got.count;
    }
    if (run.count == 0) continue;
    co_await enter_ahead(s, run, got);
    reached = run.end();
  }
  // The stream goes on behind what came, whatever is missing before that.
  streams_.extend(s.ahead.miss_end, reached == s.ahead.extent_end ? 0 : reached);
  s.ahead.count = 0;
  co_return true;
}

Task<bool> Hlrc::enter_ahead(Strand& s, BlockRange run, const Fetched& got) {
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
