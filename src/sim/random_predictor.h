#pragma once

#include <iterator>

#include "base/prng.h"
#include "protocol/predict/predictor.h"

namespace terrane::sim {

// Answers every question at random, because the memory model must hold whatever a predictor
// answers. All answers of the contract (predictor.h) are drawn: also numbers beyond what there is,
// up to the largest, and ranges of other blocks. The probability of each answer is drawn once, so
// that in some histories a thing happens always, and in some never. In a third of the histories
// every node says yes nearly always to most questions, because many faults need several mechanisms
// at once. A unit test finds a question of predictor.h that has no answer here.
class RandomPredictor final : public protocol::Predictor, private protocol::FullNodePredictor {
 public:
  using BlockRange = protocol::BlockRange;
  using Miss = protocol::Miss;

  // history: the seed of the history; node: whose predictor this is.
  RandomPredictor(std::uint64_t history, std::uint32_t node)
      : rng_(history * 64 + node),
        keeps_tracked_(~(history * 64 + node)),
        reads_(~(history * 64 + node) - 1) {
    bool agrees = base::Prng(history).chance(33);
    for (std::uint32_t& chance : chances_) {
      chance = kChances[rng_.below(std::size(kChances))];
      if (agrees && rng_.chance(85)) chance = 95;
    }
    base::Prng often(~history);
    if (often.chance(20)) keep_tracked_ = kChances[often.below(std::size(kChances))];
    if (often.chance(50)) seal_ = kChances[often.below(std::size(kChances))];
    if (often.chance(50)) skip_ = kChances[often.below(std::size(kChances))];
  }

  protocol::MissPlan at_miss(const Miss&) override {
    return {.blocks = some(kPrefetch), .fresh = says(kFresh), .homes = some(kAskHomes)};
  }
  bool expects_writes(const Miss&) override { return says(kExpectWrites); }
  protocol::PipelinePlan pipeline(const Miss& miss, BlockRange, std::uint64_t) override {
    return {.requests = static_cast<std::uint32_t>(some(kPipeline)),
            .end = rng_.chance(10) ? some(kPipeline) : miss.block + 4 * some(kPipeline)};
  }
  BlockRange homes_to_ask(const Miss&, std::uint64_t reached, std::uint64_t end) override {
    if (!rng_.chance(20)) return {reached, some(kAskHomes)};
    return {rng_.chance(50) ? end - some(kAskHomes) : some(kAskHomes), some(kAskHomes)};
  }
  protocol::SubscriptionPlan subscribe(BlockRange) override {
    return {.blocks = some(kSubscribe), .predicted = says(kSubscribe)};
  }
  std::uint64_t prefetch_before(std::uint64_t) override { return some(kBackward); }
  protocol::ClaimPlan claims(std::uint64_t) override {
    if (rng_.chance(10)) return {.behind = some(kClaim), .before = some(kClaim)};
    if (says(kBackward)) return {.before = some(kClaim)};
    return {.behind = some(kClaim)};
  }
  std::uint64_t remap_count(std::uint64_t) override { return some(kShow); }
  bool seals(const Miss&) override { return reads_.chance(seal_); }
  std::uint64_t unseals(std::uint64_t) override { return reads_.below(6); }
  std::uint64_t skips_present(const Miss&) override {
    if (!reads_.chance(skip_)) return 0;
    return reads_.chance(90) ? reads_.below(6) : ~0ull >> reads_.below(64);
  }
  protocol::AcquirePlan at_acquire(BlockRange run, bool,
                                   const protocol::CopiesAtAcquire&) override {
    return {.blocks = says(kWholeRun) ? run.count : some(kPrefetch), .refresh = says(kRefresh)};
  }
  bool subscribe_refreshed(BlockRange) override { return says(kSubscribe); }
  bool keeps_subscription(BlockRange, bool) override { return says(kKeepSubscription); }
  bool probes(std::uint64_t) override { return says(kProbe); }
  bool is_unused(std::uint64_t) override { return says(kUnused); }
  bool names_with_lock(LockId) override { return says(kNameWithLock); }
  bool tracks(std::uint64_t) override { return says(kTrack); }
  bool written_when_tracked(std::uint64_t) override { return keeps_tracked_.chance(keep_tracked_); }
  bool untracks_idle(std::uint64_t) override { return says(kUntrackIdle); }
  bool tells_unchanged(std::uint64_t) override { return says(kTellUnchanged); }
  bool keeps_open(std::uint64_t) override { return says(kKeepOpen); }
  bool release_at_once(LockId) override { return says(kReleaseAtOnce); }
  std::uint32_t extends_turn(LockId) override { return static_cast<std::uint32_t>(some(kExtend)); }
  bool offers(std::uint64_t, NodeId) override { return says(kOffer); }
  bool defers(std::uint64_t) override { return says(kDefer); }
  std::uint64_t ends_offers(std::uint64_t) override { return some(kShow); }
  bool may_give(std::uint64_t, bool, bool) override { return says(kGive); }
  protocol::FullNodePredictor& at_full_node() override { return *this; }
  std::uint64_t homes_kept(const protocol::HomePressure& now) override {
    return says(kKeepHomes) ? now.most : some(kAdopt);
  }
  protocol::AdoptionPlan adoption(const protocol::HomePressure&,
                                  const protocol::PlacesForHomes& places) override {
    NodeId node{rng_.chance(5) ? static_cast<std::uint32_t>(some(kAdopt))
                               : rng_.below(places.nodes())};
    return {.node = node, .blocks = some(kAdopt), .presses = says(kPress), .waits = says(kWait)};
  }
  bool tries_in_memory(BarrierId) override { return says(kMemoryBarrier); }
  bool holds_memory_barrier_with_leases(std::uint64_t) override {
    return says(kMemoryBarrierWithLeases);
  }
  bool pushes_by_tree(std::uint64_t) override { return says(kPushTree); }
  bool pushes_versions() override { return says(kPushVersion); }
  bool sends_with_arrival(BlockRange) override { return says(kWithArrival); }

 private:
  enum Question {
    kPrefetch,
    kFresh,
    kAskHomes,
    kExpectWrites,
    kPipeline,
    kSubscribe,
    kBackward,
    kClaim,
    kShow,
    kRefresh,
    kWholeRun,
    kKeepSubscription,
    kProbe,
    kUnused,
    kNameWithLock,
    kTrack,
    kUntrackIdle,
    kTellUnchanged,
    kKeepOpen,
    kReleaseAtOnce,
    kExtend,
    kOffer,
    kDefer,
    kGive,
    kMemoryBarrier,
    kMemoryBarrierWithLeases,
    kPushTree,
    kPushVersion,
    kWithArrival,
    kAdopt,
    kKeepHomes,
    kPress,
    kWait,
    kQuestions,
  };
  static constexpr std::uint32_t kChances[] = {0, 10, 50, 50, 90, 100};  // percent

  bool says(Question question) { return rng_.chance(chances_[question]); }
  // A small number mostly; sometimes a larger one than is possible, up to the largest.
  std::uint64_t some(Question question) {
    if (!says(question)) return 0;
    std::uint32_t draw = rng_.below(100);
    if (draw < 85) return rng_.below(6);
    if (draw < 95) return rng_.below(64);
    return ~0ull >> rng_.below(64);
  }

  base::Prng rng_;
  std::uint32_t chances_[kQuestions] = {};
  // Whether written homes stay tracked, in few histories: the other faults of leases show in the
  // rest. It has numbers of its own, so that the other answers do not depend on it.
  base::Prng keeps_tracked_;
  std::uint32_t keep_tracked_ = 0;  // percent
  // The same of the reads of a full node.
  base::Prng reads_;
  std::uint32_t seal_ = 0, skip_ = 0;  // percent
};

}  // namespace terrane::sim
