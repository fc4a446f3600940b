#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/hlrc/grant.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/offers.h"
#include "protocol/hlrc/refreshes.h"
#include "protocol/hlrc/subscriptions.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Applies notice sets: of a lock's grant, of a barrier's exit, and of another node's eager release.
class Acquires {
 public:
  Acquires(NodeState& node, Offers& offers, Subscriptions& subscriptions, Refreshes& refreshes)
      : node_(node), offers_(offers), subscriptions_(subscriptions), refreshes_(refreshes) {}
  Acquires(const Acquires&) = delete;

  // What the acquired notice set makes stale is dropped, or brought up to date; only then does this
  // node know what it says. departure: its number, or 0 where the set came with `lock`, or is
  // empty; activity: this node's when it arrived, or asked for the lock; grant: the set and the
  // blocks that came with it.
  Task<> apply(Strand& s, std::uint32_t departure, std::uint64_t activity, const Grant& grant,
               std::optional<LockId> lock = std::nullopt);
  // The same at a barrier that has not departed: of a join, or with an empty set after a round that
  // was held in memory.
  Task<> apply_unnumbered(Strand& s, Bytes notices);
  // What came with a count's token, or with a wake, in two parts: learn() makes it known to this
  // node's core, so that other nodes may have it from here; apply_learned() refreshes or drops the
  // copies. The consistency lock is held from the one to the other: no other thread of this node
  // acquires or releases anything. meets: the predictor takes it for an acquire at a barrier.
  Task<> learn(Strand& s, Grant& grant);
  Task<> apply_learned(Strand& s, const Grant& grant, LockId count, bool meets);
  // As Hlrc::expire.
  Task<> expire(Strand& s, NodeId origin, Bytes ranges);

 private:
  void name_wanted(LockId lock, std::vector<wire::WantedBlock>& wanted) const;
  void select_invalid(Bytes notices);

  NodeState& node_;
  Offers& offers_;
  Subscriptions& subscriptions_;
  Refreshes& refreshes_;
  std::vector<BlockRange> invalid_;  // copies that die at this acquire; under the consistency lock
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
