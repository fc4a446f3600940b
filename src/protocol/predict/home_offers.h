#pragma once

#include <algorithm>
#include <atomic>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At the home: which homes are offered, and when. A home is given to its only writer, and stays if
// threads of this node needed it again. The locks of the blocks are held.
class HomeOffers {
 public:
  explicit HomeOffers(Past& past) : past_(past) {}

  bool offers(std::uint64_t block) {
    if (!past_.on(Heuristic::kOffer)) return false;
    BlockHistory& past = past_.of(block);
    std::uint32_t left = past.stays_until - past_.round();
    bool came_lately = left != 0 && left <= past_.tunables.rounds_at_home;
    if (!came_lately && past.offer_skip == 0) return true;
    if (past.offer_skip > 0) past.offer_skip = static_cast<std::uint8_t>(past.offer_skip - 1);
    mark(Mark::kExitKeepsHome);
    return false;
  }
  // If a thread of this node ended an offer, the offer came at the wrong time: a consumer here
  // reads the block after the barrier, before the producer asks for it again. Then the next offer
  // is made one barrier exit later.
  bool defers(std::uint64_t block) const {
    return past_.of(block).offers_ended > 0 && past_.on(Heuristic::kOfferLater);
  }
  // A home is given on request only once: a block that moves time after time is left to the offers
  // at barriers. Readers are given none once threads of this node needed too many such homes again.
  bool may_give(bool reads, bool moved) const {
    if (moved) return false;
    if (!reads) return true;
    bool keeps = reclaimed_.load(std::memory_order_relaxed) >= past_.tunables.most_reclaimed;
    if (keeps) mark(Mark::kAskedAndKeeps);
    return !keeps;
  }
  void home_given(std::uint64_t block) { past_.of(block).given_to_reader = true; }
  // If a deferred offer was ended as well, the home's threads use the block between two writes of
  // the other node. Then offers are made more and more seldom.
  void ended(std::uint64_t block) {
    gone(block);
    BlockHistory& past = past_.of(block);
    past.offers_ended = std::min<std::uint8_t>(past.offers_ended + 1, past_.tunables.offers_ended);
    if (past_.on(Heuristic::kOfferBackOff))
      past.offer_skip = static_cast<std::uint8_t>((4u << past.offers_ended) - 8);
  }
  void gone(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    if (!past.given_to_reader) return;
    past.given_to_reader = false;
    reclaimed_.fetch_add(1, std::memory_order_relaxed);
  }
  // The home came here. Its former home may still give notice of earlier writes.
  void came(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    past.missed = 0;
    past.offers_ended = 0;
    past.offer_skip = 0;
    past.stays_until = past_.round() + past_.tunables.rounds_at_home;
  }
  // A region was freed: other allocations may be used in another way, so the count begins anew.
  void forget() { reclaimed_.store(0, std::memory_order_relaxed); }

 private:
  Past& past_;
  std::atomic<std::uint32_t> reclaimed_{
      0};  // reclaimed homes: given to readers, then needed again by threads of this node
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
