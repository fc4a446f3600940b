#pragma once

#include <atomic>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At the home: which homes are offered, when, and to whom. A home is given to its only writer, and
// stays where its own threads came back for it. The locks of the blocks are held.
class HomeOffers {
 public:
  explicit HomeOffers(Past& past) : past_(past) {}

  bool offers(std::uint64_t block) const {
    if (!past_.on(Heuristic::kOffer)) return false;
    std::uint32_t left = past_.of(block).stays_until - past_.round();
    if (left == 0 || left > past_.tunables.rounds_at_home) return true;
    mark(Mark::kDepartureKeepsHome);
    return false;
  }
  // An offer that a thread of ours ended came at the wrong time: a consumer reads what a barrier
  // told of before the producer comes for it again.
  bool defers(std::uint64_t block) const {
    return past_.of(block).offer_ended && past_.on(Heuristic::kOfferLater);
  }
  // Once only: a block that goes from hand to hand is left to barriers. What we use as well, a
  // reader does not have alone.
  bool gives(bool reads, bool moved) const {
    if (moved) return false;
    if (!reads) return true;
    bool keeps = regretted_.load(std::memory_order_relaxed) >= past_.tunables.most_regretted;
    if (keeps) mark(Mark::kAskedAndKeeps);
    return !keeps;
  }
  void gave(std::uint64_t block) { past_.of(block).given = true; }
  void ended(std::uint64_t block) {
    gone(block);
    past_.of(block).offer_ended = true;
  }
  void gone(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    if (!past.given) return;
    past.given = false;
    regretted_.fetch_add(1, std::memory_order_relaxed);
  }
  // The former home may yet give notice of what it wrote before.
  void came(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    past.missed = 0;
    past.offer_ended = false;
    past.stays_until = past_.round() + past_.tunables.rounds_at_home;
  }
  // Another allocation may be used otherwise.
  void forget() { regretted_.store(0, std::memory_order_relaxed); }

 private:
  Past& past_;
  std::atomic<std::uint32_t> regretted_{
      0};  // homes given to readers that our threads came back for
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
