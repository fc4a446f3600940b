#pragma once

#include <algorithm>
#include <atomic>

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At a node with too many homes: which node adopts some. The nearest ones with room come first; the
// same one for some time, so that neighbours stay together, until another has much more room.
class HomesElsewhere {
 public:
  explicit HomesElsewhere(const Past& past) : past_(past) {}

  // With few too many, the request goes while the program runs on; with many, a fault waits for it.
  AdoptionPlan plan(const HomePressure& pressure, const PlacesForHomes& places) {
    if (!past_.on(Heuristic::kAdopt)) return {};
    const Tunables& tunables = past_.tunables;
    std::uint64_t left = pressure.limit - std::min(pressure.limit, pressure.most);
    std::uint64_t over = pressure.homes - std::min(pressure.homes, pressure.most);
    bool presses = over > left / 2;
    if (!presses && places.under_way() >= tunables.adoptions_under_way) return {};
    NodeId node = choose(places, presses ? 1 : tunables.room_for_adoption);
    return {.node = node,
            .blocks = node == kNoNode ? 0 : tunables.adopted_together,
            .presses = presses,
            .waits = presses};
  }

 private:
  NodeId choose(const PlacesForHomes& places, std::uint32_t least) {
    NodeId last{last_.load(std::memory_order_relaxed)};
    NodeId best = kNoNode;
    for (std::uint32_t n = 0; n < places.nodes(); ++n) {
      NodeId node{n};
      if (node == places.self() || places.room(node) < least) continue;
      if (best == kNoNode || is_better(places, node, best, last)) best = node;
    }
    if (best == kNoNode) return look_again(places);
    last_.store(best.value, std::memory_order_relaxed);
    return best;
  }
  bool is_better(const PlacesForHomes& places, NodeId node, NodeId best, NodeId last) const {
    if (places.distance(node) != places.distance(best))
      return places.distance(node) < places.distance(best);
    std::uint32_t room = places.room(node) + (node == last ? past_.tunables.room_to_change : 0);
    std::uint32_t than = places.room(best) + (best == last ? past_.tunables.room_to_change : 0);
    return room > than;
  }
  // No node had room when it answered last: now and then one of them is asked again.
  NodeId look_again(const PlacesForHomes& places) {
    std::uint32_t times = full_.fetch_add(1, std::memory_order_relaxed);
    if (times % past_.tunables.faults_until_room != 0) return kNoNode;
    std::uint32_t turn = times / past_.tunables.faults_until_room;
    std::uint32_t others = places.nodes() - 1;
    return NodeId{(places.self().value + 1 + turn % others) % places.nodes()};
  }

  const Past& past_;
  std::atomic<std::uint32_t> last_{kNoNode.value};
  std::atomic<std::uint32_t> full_{0};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
