#pragma once

#include "protocol/predict/first_miss.h"
#include "protocol/predict/home_offers.h"
#include "protocol/predict/home_requests.h"
#include "protocol/predict/homes_elsewhere.h"
#include "protocol/predict/memory_barriers.h"
#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"
#include "protocol/predict/prefetch.h"
#include "protocol/predict/probe.h"
#include "protocol/predict/refresh.h"
#include "protocol/predict/tracking.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The predictor that ships: passes each question to its heuristic.
class AdaptivePredictor final : public Predictor {
 public:
  // history: zeroed, one entry for each block; owned by the host.
  AdaptivePredictor(BlockHistory* history, std::uint64_t blocks, const Tunables& tunables,
                    Heuristics on)
      : past_(history, blocks, tunables, on) {}

  MissPlan at_miss(const Miss& miss) override;
  void homes_asked(const Miss& miss, std::uint64_t end, std::uint64_t offered) override {
    home_requests_.note(miss, end, offered, sequential_.streams());
  }
  bool expects_writes(const Miss& miss) override {
    return miss.access == Access::kWrite || sequential_.streams().asked(miss.block) > miss.block;
  }
  void prefetches(std::uint64_t block) override {
    if (!neighbours_.note(block)) refresh_.shown_by_neighbour(block);
  }
  PipelinePlan pipeline(const Miss& miss, BlockRange run, std::uint64_t extent) override {
    return pipeline_.plan(run, extent, miss, sequential_, sequential_.streams());
  }
  BlockRange homes_to_ask(const Miss& miss, std::uint64_t reached,
                          std::uint64_t extent_end) override {
    return home_requests_.next(miss, reached, extent_end, sequential_.streams());
  }
  SubscriptionPlan subscribe(BlockRange missed) override;
  void missed(std::uint64_t block) override {
    refresh_.missed(block);
    open_copies_.forget(block);
  }
  void miss_ended(std::uint64_t block, std::uint64_t end) override {
    run_length_.ended(sequential_.streams().note(block, end));
  }
  void pipeline_ended(std::uint64_t from, std::uint64_t end) override {
    sequential_.streams().extend(from, end);
  }
  std::uint64_t prefetch_before(std::uint64_t block) override {
    return backward_.count(block, sequential_);
  }
  void prefetched_before(BlockRange before) override;
  ClaimPlan claims(std::uint64_t block) override { return claims_.plan(block); }
  void claimed(std::uint64_t block, BlockRange run) override { claims_.note(block, run); }

  std::uint64_t remap_count(std::uint64_t block) override;
  void remapped(std::uint64_t block) override;

  void acquired(bool at_fence) override { at_fence ? tracking_.count_fence() : past_.count_lock(); }
  void barrier_passed() override {
    tracking_.round_ends();
    if (past_.end_round() % past_.tunables.prediction_budget_back == 0) first_miss_.gain(1);
  }
  AcquirePlan at_acquire(BlockRange run, bool barrier, const CopiesAtAcquire& copies) override {
    return refresh_.plan(run, barrier, copies);
  }
  void dropped(BlockRange run, bool barrier) override { refresh_.dropped(run, barrier); }
  bool subscribe_refreshed(BlockRange run) override {
    return past_.tunables.unused_pushes != 0 && !past_.of(run.first).on_probation;
  }
  bool keeps_subscription(BlockRange run, bool predicted) override {
    return !predicted || first_miss_.keeps(run);
  }
  void refreshed(BlockRange run, bool barrier) override { refresh_.refreshed(run, barrier); }
  bool probes(std::uint64_t block) override { return probe_.probes(block); }
  bool is_unused(std::uint64_t block) override { return probe_.is_unused(block); }
  bool names_with_lock(LockId) override { return past_.on(Heuristic::kWithGrant); }

  bool tracks(std::uint64_t block) override {
    if (!tracking_.tracks(block)) return false;
    idle_tracking_.tracked();
    return true;
  }
  bool written_when_tracked(std::uint64_t block) override {
    idle_tracking_.written();
    return tracking_.written(block);
  }
  bool untracks_idle(std::uint64_t blocks) override { return idle_tracking_.ends(blocks); }
  bool tells_unchanged(std::uint64_t block) override { return silent_writes_.tells(block); }
  bool keeps_open(std::uint64_t block) override { return open_copies_.keeps_open(block); }
  void compared(std::uint64_t block, bool written) override {
    open_copies_.compared(block, written);
  }
  bool release_at_once(LockId lock) override { return lock_releases_.at_once(lock); }
  std::uint32_t extends_turn(LockId lock) override { return lock_turns_.extends(lock); }
  void lock_asked(LockId lock) override { lock_turns_.asked(lock); }
  void lock_left(LockId lock) override { lock_releases_.left(lock); }
  void lock_reused(LockId lock) override { lock_releases_.reused(lock); }

  bool offers(std::uint64_t block, NodeId) override { return home_offers_.offers(block); }
  bool defers(std::uint64_t block) override { return home_offers_.defers(block); }
  bool may_give(std::uint64_t block, bool reads, bool moved) override {
    return home_offers_.may_give(reads, moved) && home_offers_.offers(block);
  }
  void home_given(std::uint64_t block, bool reads) override {
    if (reads) home_offers_.home_given(block);
  }
  std::uint64_t ends_offers(std::uint64_t) override {
    return past_.on(Heuristic::kOfferEndsRun) ? past_.tunables.max_run : 1;
  }
  void offer_ended(std::uint64_t block) override { home_offers_.ended(block); }
  void home_gone(std::uint64_t block) override {
    home_offers_.gone(block);
    homes_elsewhere_.home_missed();
  }
  FullNodePredictor& at_full_node() override { return homes_elsewhere_; }
  void home_came(std::uint64_t block) override;

  bool tries_in_memory(BarrierId id) override { return memory_barriers_.tries(id); }
  bool holds_memory_barrier_with_leases(std::uint64_t blocks) override {
    return memory_barriers_.may_hold_leases(blocks);
  }
  void memory_barrier_ended(BarrierId id, bool held) override { memory_barriers_.ended(id, held); }
  bool pushes_by_tree(std::uint64_t readers) override {
    return readers >= kTogether && past_.on(Heuristic::kPushTree);
  }
  bool pushes_versions() override { return past_.on(Heuristic::kPushVersion); }
  bool sends_with_arrival(BlockRange) override { return past_.on(Heuristic::kWithArrival); }

  void forget(std::uint64_t block) override { past_.of(block) = {}; }
  void region_freed(BlockRange range) override;

 private:
  Past past_;
  Neighbours neighbours_{past_};
  Sequential sequential_{past_, neighbours_};
  RunLength run_length_{past_};
  Backward backward_{past_};
  Pipeline pipeline_{past_};
  Claims claims_{past_};
  HomeRequests home_requests_{past_};
  Refresh refresh_{past_};
  Probe probe_{past_};
  FirstMiss first_miss_{past_};
  Tracking tracking_{past_};
  IdleTracking idle_tracking_{past_};
  SilentWrites silent_writes_{past_};
  OpenCopies open_copies_{past_};
  HomeOffers home_offers_{past_};
  HomesElsewhere homes_elsewhere_{past_};
  MemoryBarriers memory_barriers_{past_};
  LockReleases lock_releases_{past_};
  LockTurns lock_turns_{past_};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
