#include "protocol/predict/prefetch.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

std::uint64_t Neighbours::count(std::uint64_t block, std::uint64_t most) const {
  std::uint64_t count = 1;
  most = std::min(most, past_.blocks() - block);
  while (count < most && was_here(past_.of(block + count))) ++count;
  return count;
}

bool Neighbours::note(std::uint64_t block) {
  BlockHistory& past = past_.of(block);
  bool before = was_here(past);
  if (!before) past.on_probation = past_.on(Heuristic::kProbation);
  past.prefetched = before ? static_cast<std::uint8_t>(past.prefetched + 1) : std::uint8_t{1};
  return past.on_probation;
}

std::uint64_t Sequential::may_come(std::uint64_t first, std::uint64_t most) const {
  std::uint64_t count = 0;
  most = std::min(most, past_.blocks() - std::min(first, past_.blocks()));
  while (count < most && !neighbours_.is_tried(past_.of(first + count))) ++count;
  return count;
}

std::uint64_t Sequential::count(std::uint64_t block, bool far) const {
  std::uint64_t length = past_.on(Heuristic::kSequential) ? streams_.length(block) : 0;
  if (length == 0) return 0;
  const std::uint64_t most = past_.tunables.max_run - 1;
  return 1 + may_come(block + 1, far ? most : std::min(most, length));
}

// A stream of a few blocks may be chance.
void Sequential::prove(std::uint64_t block) {
  std::uint64_t first = streams_.latest_run(block);
  if (block - first < past_.tunables.max_run / 2) return;
  for (std::uint64_t b = first; b < block; ++b) past_.of(b).on_probation = false;
}

// Now and then a stream begins without this prefetch, so that its misses show how long streams are.
std::uint64_t RunLength::count() {
  const Tunables& t = past_.tunables;
  if (on_end_ < t.same_lengths || !past_.on(Heuristic::kRunLength)) return 1;
  begun_ = begun_ + 1;
  return begun_ % t.measured == 0 ? 1 : std::uint32_t(length_);
}

void RunLength::ended(Streams::Ended over) {
  bool unknown = over.used == 0 || (over.used == 1 && over.prefetched > 1);
  if (unknown) return;
  auto length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(over.used, past_.tunables.max_run));
  if (length == length_) {
    on_end_ = std::min(on_end_ + 1, past_.tunables.same_lengths + 1);
  } else if (on_end_ > 0) {
    on_end_ = on_end_ - 1;
  } else {
    length_ = length;
  }
}

std::uint64_t Backward::count(std::uint64_t block, const Sequential& sequential) {
  std::uint64_t at = past_.blocks() - 1 - block;
  bool falls = falling_.length(at) >= past_.tunables.falls_after;
  falling_.note(at, at + 1);
  std::uint64_t most = std::min<std::uint64_t>(past_.tunables.max_run - 1, block);
  if (!falls || most == 0 || !past_.on(Heuristic::kBackward)) return 0;
  return sequential.may_come(block - most, most) == most ? most : 0;
}

PipelinePlan Pipeline::plan(BlockRange run, std::uint64_t extent, const Miss& miss,
                            const Sequential& sequential, const Streams& streams) const {
  const Tunables& t = past_.tunables;
  const std::uint64_t runs = miss.far ? 1 : t.pipeline_after;
  bool long_enough = streams.length(run.first) >= runs * t.max_run;
  if (!long_enough || !past_.on(Heuristic::kPipeline)) return {};
  std::uint64_t end = run.first + extent;
  std::uint64_t further = std::min<std::uint64_t>(streams.length(run.first) / (2 * t.max_run),
                                                  std::max(t.runs_of_miss, 1u) - 1);
  // Blocks whose homes were not asked for are left to the next miss, which asks for them.
  if (std::uint64_t asked = streams.asked(run.first); asked > run.first) {
    end = std::min(end, asked);
    further = 0;
  }
  if (!miss.little_room) further = 0;
  if (end <= run.end()) return {};
  further = std::max<std::uint64_t>(further, t.runs_pipelined);
  std::uint64_t most = std::min(end - run.end(), further * t.max_run);
  return {.requests = t.runs_pipelined, .end = run.end() + sequential.may_come(run.end(), most)};
}

std::uint64_t Claims::count(const Streams& streams, std::uint64_t at) const {
  std::uint64_t written = streams.length(at) + 1;
  if (written == 1 || !past_.on(Heuristic::kClaimBehind)) return 0;
  const Tunables& t = past_.tunables;
  return std::min(std::uint64_t{t.claim_runs} * t.max_run - 1, written / 2);
}

ClaimPlan Claims::plan(std::uint64_t block) const {
  return {.behind = count(rising_, block), .before = count(falling_, from_end(block))};
}

// A stream goes one way; a new one may go either way.
void Claims::note(std::uint64_t block, BlockRange claimed) {
  std::uint64_t at = from_end(block);
  bool rises = rising_.goes_on(block);
  if (rises || !falling_.goes_on(at)) rising_.note(block, claimed.end());
  if (!rises) falling_.note(at, from_end(claimed.first) + 1);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
