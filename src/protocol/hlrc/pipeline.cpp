#include <algorithm>

#include "protocol/hlrc/misses.h"
#include "protocol/serve/served.h"

// Pipelined requests of a miss: several messages' blocks at once, so that the home makes one answer
// while the one before is on its way, and another is entered here.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// After extend_run(): `run` is what the miss itself is going to fetch, `extent` what the allocation
// has from there on.
Task<> Misses::ask_ahead(Strand& s, BlockRange run, NodeId home, std::uint64_t extent,
                         const Miss& miss, MissUnderWay& under_way) {
  Ahead& ahead = under_way.ahead;
  if (node_.reaches(home) || run.count < node_.most_of_run()) co_return;
  PipelinePlan plan = node_.predictor.pipeline(miss, run, extent);
  std::uint64_t end = std::min(plan.end, run.first + extent);
  std::uint32_t most = std::min(plan.requests, Ahead::kMost);
  auto post = [&](BlockRange blocks) {
    return s.perform(PostFetch{home, blocks, {.may_take = homes_.may_take()}});
  };
  ahead.home = home;
  ahead.wanted = access_of_homes(miss);
  ahead.extent_end = run.first + extent;
  BlockRange next{run.end(), 0};
  while (next.first < end && ahead.count < most) {
    if (ahead.count == 0) co_await post(run);
    bool known = co_await knows_home(s, next.first, home, under_way);
    if (!known) break;
    co_await bring_more(s, next, home, true, std::min(end - next.first, node_.most_of_run()),
                        under_way);
    if (next.count == 0) break;
    mark(Mark::kFaultAsksAhead);
    co_await post(next);
    ahead.runs[ahead.count++] = next;
    if (next.count < node_.most_of_run()) break;
    next = {next.end(), 0};
  }
  if (ahead.count > 0) co_await ask_offers_ahead(s, miss, ahead);
}

// A directory names the owner of some blocks at a time. That of those behind is asked while others
// are on their way.
Task<bool> Misses::knows_home(Strand& s, std::uint64_t block, NodeId home,
                              MissUnderWay& under_way) {
  bool told = under_way.names(block);
  if (told || node_.entries[block].home() != kNoNode || node_.reaches(node_.directory(block)))
    co_return true;
  mark(Mark::kFaultAsksOwnerAhead);
  Owner owner = co_await homes_.ask_owner(s, block);
  under_way.same_owner = {block, owner.same};
  bool same =
      owner.entry == home.value + 1 || (owner.entry != 0 && mutant(Mutant::kAheadTrustsOwner));
  if (!same) under_way.same_owner = {};
  co_return same;
}

// The homes of the blocks to come are asked for, and will have been offered before the stream is
// there. Nobody waits for that, and nobody learns of a home that cannot now.
Task<> Misses::ask_offers_ahead(Strand& s, Miss miss, const Ahead& ahead) {
  miss.movable = miss.movable && homes_.may_take();
  if (!miss.movable) co_return;
  BlockRange next =
      node_.predictor.homes_ahead(miss, ahead.runs[ahead.count - 1].end(), ahead.extent_end);
  if (next.first < miss.block || next.end() > ahead.extent_end || next.count == 0) co_return;
  mark(Mark::kFaultAsksForHomesAhead);
  Event ask = AskOffer{ahead.home, next, ahead.wanted == Access::kRead, kNobody};
  co_await s.tell(ask);
}

// Enters what was asked for ahead, as far as it comes; of what does not, a miss of its own will ask
// where it is. Homes among it have come here since, and others may wait until they are entered
// while we waited for the miss itself, for a home that was just moving. They cannot wait in a ring:
// what is asked for ahead lies above what the miss itself waits for.
Task<> Misses::finish_ahead(Strand& s, Ahead& ahead) {
  std::uint64_t reached = ahead.miss_end;
  for (std::uint32_t i = 0; i < ahead.count; ++i) {
    BlockRange run = ahead.runs[i];
    Fetched got = co_await fetches_.fetch_by_message(s, run, ahead.home, false,
                                                     {.may_take = homes_.may_take()});
    if (got.count < run.count) mark(Mark::kFaultAheadComesShort);
    if (!mutant(Mutant::kAheadKeepsShort)) {
      co_await leave_out(s, {run.first + got.count, run.count - got.count});
      run.count = got.count;
    }
    if (run.count == 0) continue;
    co_await enter_ahead(s, run, got, ahead.wanted);
    reached = run.end();
  }
  // The stream goes on behind what came, whatever is missing before that.
  node_.predictor.pipeline_ended(ahead.miss_end, reached == ahead.extent_end ? 0 : reached);
  ahead.count = 0;
}

Task<> Misses::enter_ahead(Strand& s, BlockRange run, const Fetched& got, Access wanted) {
  if (got.own) {
    mark(Mark::kFaultAheadTakesHome);
    co_await enter_homes(s, run, wanted);
  } else {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      node_.predictor.missed(b);
      if (node_.scans()) co_await s.perform(CopyTwin{BlockId{b}});
    }
    co_await enter_copies(s, run, Access::kRead);
  }
  BlockState state = got.own ? BlockState::kHome : BlockState::kClean;
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
