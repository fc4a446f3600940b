#pragma once

#include <algorithm>
#include <atomic>

#include "protocol/predict/full_node_reads.h"
#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At a node with little memory: how much of it homes have, the rest being for copies; and which
// node adopts the homes that are too many.
//
// A copy that is missed soon after its eviction would still be here if there were fewer homes; a
// home that is missed after it was given away, if there were more. Each such miss moves the limit a
// little (Megiddo and Modha, ARC: a self-tuning, low overhead replacement cache, FAST 2003).
//
// The nearest nodes with room come first; the same one for some time, so that neighbours stay
// together, until another has much more room.
class HomesElsewhere final : public FullNodeReads {
 public:
  explicit HomesElsewhere(Past& past) : FullNodeReads(past), past_(past) {}

  std::uint64_t homes_kept(const HomePressure& pressure) override {
    if (!past_.on(Heuristic::kFewerHomes)) return pressure.most;
    std::uint64_t least = std::min(pressure.most, pressure.limit / past_.tunables.least_homes);
    most_fewer_.store(pressure.most - least, std::memory_order_relaxed);
    period_.store(std::max<std::uint64_t>(1, pressure.limit / 2 / kPeriods),
                  std::memory_order_relaxed);
    return pressure.most - std::min(fewer_.load(std::memory_order_relaxed), pressure.most - least);
  }
  // What was here together need not be needed together again: it was no acquire that dropped it.
  void evicted(std::uint64_t block) override {
    BlockHistory& past = past_.of(block);
    past.prefetched = 0;
    past.on_probation = false;
    std::uint64_t evictions = evictions_.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t period = period_.load(std::memory_order_relaxed);
    if (period != 0) past.evicted = static_cast<std::uint8_t>(evictions / period % 255 + 1);
  }
  // It comes back soon, if it would still be here with all memory for copies and their twins.
  void copy_missed(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    std::uint8_t then = past.evicted;
    std::uint64_t period = period_.load(std::memory_order_relaxed);
    if (then == 0 || period == 0) return;
    past.evicted = 0;
    std::uint64_t now = evictions_.load(std::memory_order_relaxed) / period;
    if ((now + 256 - then) % 255 > kPeriods) return;
    std::uint64_t fewer = fewer_.load(std::memory_order_relaxed);
    fewer_.store(std::min(fewer + 2, most_fewer_.load(std::memory_order_relaxed)),
                 std::memory_order_relaxed);
  }
  void home_missed() {
    std::uint64_t fewer = fewer_.load(std::memory_order_relaxed);
    fewer_.store(fewer - std::min<std::uint64_t>(fewer, 1), std::memory_order_relaxed);
  }

  // With few too many, the request goes while the program runs on; with many, a fault waits for it.
  AdoptionPlan adoption(const HomePressure& pressure, const PlacesForHomes& places) override {
    if (!past_.on(Heuristic::kAdopt)) return {};
    const Tunables& tunables = past_.tunables;
    std::uint64_t left = pressure.limit - std::min(pressure.limit, pressure.most);
    std::uint64_t over = pressure.homes - std::min(pressure.homes, pressure.most);
    // It does not press for the sake of copies: the others may need their own.
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

  static constexpr std::uint64_t kPeriods = 16;  // a copy that comes back within so many comes soon

  Past& past_;
  std::atomic<std::uint64_t> fewer_{0};  // homes than the most
  std::atomic<std::uint64_t> most_fewer_{0};
  std::atomic<std::uint64_t> period_{0};  // in evictions; 0: this node's memory has no limit
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint32_t> last_{kNoNode.value};
  std::atomic<std::uint32_t> full_{0};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
