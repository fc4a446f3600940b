#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

// By any thread at any time.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How a node with little memory left reads. Copies that are read enter sealed, without twins. A
// page that this node has changed before is not sealed; after a store to a sealed page, no page is
// for some misses, twice as many each time. Some pages of a stream are here already, as when
// random ones were read before: the stream goes on behind them.
class FullNodeReads : public FullNodePredictor {
 public:
  explicit FullNodeReads(Past& past) : past_(past) {}

  bool seals(const Miss& miss) override {
    if (!miss.little_room || !past_.on(Heuristic::kSealReads)) return false;
    if (past_.of(miss.block).stored) return false;
    if (skip_ == 0) return true;
    skip_ = skip_ - 1;
    return false;
  }
  std::uint64_t unseals(std::uint64_t block) override {
    next_skip_ = std::clamp(2 * next_skip_, 1u, past_.tunables.most_unsealed);
    skip_ = std::uint32_t(next_skip_);
    return past_.of(block).stored ? 1 : past_.tunables.max_run;
  }
  void stored(std::uint64_t block) override {
    BlockHistory& past = past_.of(block);
    if (!past.stored) past.stored = true;
  }

  std::uint64_t skips_present(const Miss& miss) override {
    bool skips = miss.little_room && past_.on(Heuristic::kSkipPresent);
    return skips ? past_.tunables.max_run : 0;
  }

 private:
  Past& past_;
  Guess<std::uint32_t> skip_;       // so many misses are not sealed
  Guess<std::uint32_t> next_skip_;  // after the next store to a sealed page, twice this
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
