#pragma once

#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The worked example of docs/design/prediction.md: each miss fetches four pages, and no copy is
// ever refreshed. To all other questions it gives the answers of Predictor, which never guesses.
class FourPages final : public Predictor {
 public:
  MissPlan at_miss(const Miss& miss) override {
    if (!miss.prefetches) return {};
    return {.blocks = kPages, .fresh = true};
  }
  AcquirePlan at_acquire(BlockRange run, bool /*barrier*/, const CopiesAtAcquire&) override {
    return {.blocks = run.count, .refresh = false};
  }

 private:
  static constexpr std::uint64_t kPages = 4;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
