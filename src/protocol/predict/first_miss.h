#pragma once

#include <algorithm>
#include <atomic>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node that misses few blocks subscribes at the first miss, unless that was in vain too often.
// This saves the second miss, which comes while the home computes. By any thread at any time.
class FirstMiss {
 public:
  explicit FirstMiss(const Past& past) : past_(past), budget_(past.tunables.prediction_budget) {}

  // Counts what is missed in this round. Result: whether it was little before this miss, and the
  // budget allows a subscription.
  bool predicts(std::uint64_t blocks) {
    std::uint64_t seen = lately_.load(std::memory_order_relaxed);
    std::uint64_t now = std::uint64_t{past_.round()} << 32;
    std::uint64_t before = seen >> 32 == now >> 32 ? seen & 0xffffffff : 0;
    lately_.store(now | std::min<std::uint64_t>(before + blocks, 0xffffffff),
                  std::memory_order_relaxed);
    return past_.on(Heuristic::kFirstMiss) && before < past_.tunables.few_misses &&
           budget_.load() > 0;
  }
  // Whether the subscription of a first miss is still wanted. It is not if so much was missed
  // afterwards that this is not a row or two that is read again and again.
  bool keeps(BlockRange run) {
    std::uint64_t seen = lately_.load(std::memory_order_relaxed);
    bool many = seen >> 32 == past_.round() && (seen & 0xffffffff) > past_.tunables.few_misses;
    if (many) {
      mark(Mark::kAcquirePredictsNothing);
      return false;
    }
    budget_.fetch_sub(static_cast<std::int32_t>(run.count));
    return true;
  }
  // A subscription that was used, and time, give budget back.
  void gain(std::int32_t blocks) {
    budget_.store(std::min(budget_.load() + blocks, past_.tunables.prediction_budget));
  }

 private:
  const Past& past_;
  std::atomic<std::uint64_t> lately_{0};  // round << 32 | blocks missed in it
  std::atomic<std::int32_t> budget_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
