#include <algorithm>

#include "protocol/hlrc/misses.h"

// Pipelined requests of a miss: several at once, so that the home makes one answer while the one
// before it travels, and another is entered here.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// After extend_run(). `run`: what the miss itself is going to fetch. `extent`: how many blocks the
// allocation has from its first one on.
Task<> Misses::ask_pipelined(Strand& s, BlockRange run, NodeId home, std::uint64_t extent,
                             const Miss& miss, MissUnderWay& under_way) {
  Pipeline& pipeline = under_way.pipeline;
  std::uint64_t behind = behind_present(run.end(), run.first + extent, under_way);
  bool ends = run.count < node_.most_of_run() && behind == run.end();
  if (node_.reaches(home) || ends) co_return;
  PipelinePlan plan = node_.predictor.pipeline(miss, run, extent);
  pipeline.end = std::min(plan.end, run.first + extent);
  pipeline.most = std::min(plan.requests, Pipeline::kMost);
  pipeline.home = home;
  pipeline.wanted = access_of_homes(miss);
  pipeline.extent_end = run.first + extent;
  pipeline.next = {behind, 0};
  if (behind >= pipeline.end || pipeline.most == 0) co_return;
  co_await s.perform(PostFetch{home, run, {.may_take = homes_.may_take()}});
  co_await request_more(s, under_way);
  if (pipeline.count > 0) co_await ask_pipelined_offers(s, miss, pipeline);
}

// Makes the next requests, as long as fewer than planned are under way.
Task<> Misses::request_more(Strand& s, MissUnderWay& under_way) {
  Pipeline& pipeline = under_way.pipeline;
  while (pipeline.next.first < pipeline.end && pipeline.count < pipeline.most) {
    BlockRange next = pipeline.next;
    std::uint64_t most = std::min(pipeline.end - next.first, node_.most_of_run());
    pipeline.next = {pipeline.end, 0};
    bool known = co_await knows_home(s, next.first, pipeline.home, under_way);
    if (!known) break;
    co_await prefetch_more(s, next, pipeline.home, true, most, under_way);
    if (next.count == 0) break;
    mark(Mark::kFaultPipelines);
    co_await s.perform(PostFetch{pipeline.home, next, {.may_take = homes_.may_take()}});
    pipeline.runs[pipeline.count++] = next;
    std::uint64_t behind = behind_present(next.end(), pipeline.extent_end, under_way);
    bool goes_on = next.count == node_.most_of_run() || behind != next.end();
    if (goes_on) pipeline.next = {behind, 0};
  }
}

// Where a stream that has come up to this block goes on, before `limit`: blocks that are here are
// passed over, as many as the predictor says. Their locks are not held, so this is a guess.
std::uint64_t Misses::behind_present(std::uint64_t block, std::uint64_t limit,
                                     const MissUnderWay& under_way) const {
  std::uint64_t most = std::min(limit - std::min(limit, block), under_way.skips);
  std::uint64_t at = block;
  while (at - block < most && node_.entries[at].settled_state() != BlockState::kInvalid &&
         node_.entries[at].home() != kNoNode)
    ++at;
  if (at == block || at - block == most) return block;
  mark(Mark::kFaultSkipsPresent);
  return at;
}

// Whether the block may be requested from `home`. A directory names the owner of some blocks at a
// time; it is asked for the owner of the next ones while requests are under way.
Task<bool> Misses::knows_home(Strand& s, std::uint64_t block, NodeId home,
                              MissUnderWay& under_way) {
  bool named = under_way.names(block);
  NodeId directory = node_.directory(block, block - 1);
  if (named || node_.entries[block].home() != kNoNode || node_.reaches(directory)) co_return true;
  mark(Mark::kFaultPipelinesToOwner);
  Owner owner = co_await homes_.ask_owner(s, block, block - 1);
  under_way.same_owner = {block, owner.same};
  bool same =
      owner.entry == home.value + 1 || (owner.entry != 0 && mutant(Mutant::kPipelineTrustsOwner));
  if (!same) under_way.same_owner = {};
  co_return same;
}

// Asks for the homes of the blocks that follow, so that they are offered before the stream reaches
// them. No thread waits for the answer, so the predictor does not learn if there were no offers.
Task<> Misses::ask_pipelined_offers(Strand& s, Miss miss, const Pipeline& pipeline) {
  miss.movable = miss.movable && homes_.may_take();
  if (!miss.movable) co_return;
  BlockRange next = node_.predictor.homes_to_ask(miss, pipeline.runs[pipeline.count - 1].end(),
                                                 pipeline.extent_end);
  if (next.first < miss.block || next.first >= pipeline.extent_end) co_return;
  next.count = std::min(next.count, pipeline.extent_end - next.first);
  if (next.count == 0) co_return;
  mark(Mark::kFaultAsksForHomesEarly);
  bool reads = pipeline.wanted == Access::kRead;
  OfferWish wish = reads ? OfferWish::kReads : OfferWish::kWrites;
  Event ask = AskOffer{pipeline.home, next, wish, kNobody};
  co_await s.tell(ask);
}

// Enters the blocks that pipelined requests asked for, as far as they came. Each other block is
// left to a miss of its own. Some of their homes may have moved here with the answers. Other nodes
// may have waited for these since, while this thread waited for the home of the missed block, which
// was just moving. Such waits form no cycle: the blocks for which those nodes wait have higher
// numbers than the block for which this miss waited.
Task<> Misses::finish_pipeline(Strand& s, MissUnderWay& under_way) {
  Pipeline& pipeline = under_way.pipeline;
  std::uint64_t reached = pipeline.miss_end;
  while (pipeline.count > 0) {
    BlockRange run = pipeline.runs[0];
    Fetched got =
        co_await fetches_.ask(s, run, pipeline.home, false, {.may_take = homes_.may_take()});
    std::copy(pipeline.runs + 1, pipeline.runs + pipeline.count, pipeline.runs);
    --pipeline.count;
    if (got.count == run.count) {
      co_await request_more(s, under_way);
    } else {
      mark(Mark::kPipelineComesShort);
      pipeline.next = {pipeline.end, 0};
    }
    if (!mutant(Mutant::kPipelineKeepsShort)) {
      co_await leave_out(s, {run.first + got.count, run.count - got.count});
      run.count = got.count;
    }
    if (run.count == 0) continue;
    co_await enter_pipelined(s, run, got, under_way);
    reached = behind_present(run.end(), pipeline.extent_end, under_way);
  }
  // The stream continues behind the last block that came, even if some before it did not.
  node_.predictor.pipeline_ended(pipeline.miss_end, reached == pipeline.extent_end ? 0 : reached);
}

Task<> Misses::enter_pipelined(Strand& s, BlockRange run, const Fetched& got,
                               const MissUnderWay& under_way) {
  if (got.own) {
    mark(Mark::kPipelineTakesHome);
    co_await enter_homes(s, run, under_way.pipeline.wanted);
  } else {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      node_.predictor.missed(b);
      if (node_.scans() && !under_way.seals) co_await s.perform(CopyTwin{BlockId{b}});
    }
    co_await enter_copies(s, run, Access::kRead, under_way.seals);
  }
  BlockState state = got.own ? BlockState::kHome : BlockState::kClean;
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.unlock_block(s, b, state);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
