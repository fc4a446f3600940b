#include "protocol/predict/adaptive.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

MissPlan AdaptivePredictor::at_miss(const Miss& miss) {
  BlockHistory& past = past_.of(miss.block);
  past.prefetched = 1;
  past.on_probation = false;
  if (sequential_.streams().goes_on(miss.block)) sequential_.prove(miss.block);
  homes_elsewhere_.copy_missed(miss.block);
  MissPlan plan{.homes = home_requests_.count(miss, sequential_.streams())};
  if (!miss.prefetches) return plan;
  std::uint64_t in_order = sequential_.count(miss.block, miss.far);
  plan.fresh = in_order > 0;
  plan.blocks = in_order;
  if (in_order == 0 && past_.on(Heuristic::kNeighbours))
    plan.blocks = neighbours_.count(miss.block, past_.tunables.max_run);
  if (in_order > 0) return plan;
  std::uint64_t usual = run_length_.count();
  if (usual <= std::max<std::uint64_t>(plan.blocks, 1)) return plan;
  plan.blocks = 1 + sequential_.may_come(miss.block + 1, usual - 1);
  plan.fresh = true;
  return plan;
}

SubscriptionPlan AdaptivePredictor::subscribe(BlockRange missed) {
  SubscriptionPlan plan;
  if (past_.tunables.unused_pushes == 0) return plan;
  plan.predicted =
      first_miss_.predicts(missed.count) && !refresh_.becomes_refreshed(missed.first, false);
  while (plan.blocks < missed.count &&
         refresh_.becomes_refreshed(missed.first + plan.blocks, plan.predicted))
    ++plan.blocks;
  return plan;
}

void AdaptivePredictor::prefetched_before(BlockRange before) {
  backward_.note(before);
  past_.of(before.first).prefetched = 1;
  past_.of(before.first).on_probation = past_.on(Heuristic::kProbation);
}

std::uint64_t AdaptivePredictor::remap_count(std::uint64_t block) {
  if (!probe_.is_unmapped(block)) return 1;
  mark(Mark::kFaultShowsProbe);
  BlockHistory& past = past_.of(block);
  if (!past_.is_refreshed(past)) first_miss_.gain(2);
  probe_.show(block);
  past.prefetched = 1;
  return probe_.count(block, past_.tunables.max_run);
}

void AdaptivePredictor::remapped(std::uint64_t block) {
  BlockHistory& past = past_.of(block);
  probe_.show(block);
  past.prefetched = static_cast<std::uint8_t>(past.prefetched + 1);
}

void AdaptivePredictor::home_came(std::uint64_t block) {
  home_offers_.came(block);
  tracking_.home_came(block);
  silent_writes_.home_came(block);
}

void AdaptivePredictor::region_freed(BlockRange range) {
  sequential_.streams().forget(range.first, range.end());
  backward_.forget(range);
  claims_.forget(range);
  home_offers_.forget();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
