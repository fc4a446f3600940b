#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "protocol/predict/block_history.h"
#include "protocol/predict/heuristics.h"
#include "protocol/predict/tunables.h"

namespace terrane::protocol {

// What all heuristics of a node look at: the histories of its blocks, and how many rounds and
// acquires of locks have passed. The host owns the histories.
class Past {
 public:
  Past(BlockHistory* history, std::uint64_t blocks, const Tunables& tunables, Heuristics on)
      : tunables(tunables), on_(on), history_(history), blocks_(blocks) {}

  const Tunables tunables;

  bool on(Heuristic heuristic) const { return on_.on(heuristic); }
  BlockHistory& of(std::uint64_t block) { return history_[block]; }
  const BlockHistory& of(std::uint64_t block) const { return history_[block]; }
  std::uint64_t blocks() const { return blocks_; }

  std::uint32_t round() const { return rounds_.load(std::memory_order_relaxed); }
  std::uint32_t end_round() {
    std::uint64_t refreshed = refreshed_.exchange(0, std::memory_order_relaxed);
    refreshes_many_ = refreshed > tunables.many_refreshed && on(Heuristic::kShowMany);
    return rounds_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  void count_refreshed(std::uint64_t blocks) {
    refreshed_.fetch_add(blocks, std::memory_order_relaxed);
  }
  // Whether so many copies were refreshed in long runs in the last round that each refresh has to
  // show its use: then a fault for each run costs less than refreshes in vain.
  bool refreshes_many() const { return refreshes_many_; }
  std::uint16_t locks() const { return locks_.load(std::memory_order_relaxed); }
  void count_lock() { locks_.fetch_add(1, std::memory_order_relaxed); }

  // Rounds since the block was missed or refreshed.
  std::uint32_t since(const BlockHistory& past) const { return round() - past.round; }
  bool is_refreshed(const BlockHistory& past) const {
    return past.missed >= tunables.refresh_after;
  }

  // How many refreshes in a row a copy gets until a fault has to show its use: few if the copy
  // never was missed by itself, more if it was missed time after time.
  std::uint32_t most_refreshes(const BlockHistory& past) const {
    std::uint32_t most = tunables.most_refreshes;
    std::uint32_t again =
        past.missed > tunables.refresh_after ? past.missed - tunables.refresh_after : 0;
    if (past.on_probation) return std::min(most, tunables.probation << std::min(again, 8u));
    bool seldom = !is_refreshed(past) && past.missed_after_locks < tunables.refresh_after;
    if (seldom) return std::min(most, tunables.predicted_refreshes);
    if (refreshes_many()) return 1;
    return std::min(most << std::min(again, tunables.most_doubled), 255u);
  }

 private:
  Heuristics on_;
  BlockHistory* history_;
  std::uint64_t blocks_;
  std::atomic<std::uint32_t> rounds_{0};
  std::atomic<std::uint64_t> refreshed_{0};  // in this round
  Guess<bool> refreshes_many_;
  std::atomic<std::uint16_t> locks_{0};
};

}  // namespace terrane::protocol
