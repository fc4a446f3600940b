#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/copies/refreshes.h"
#include "protocol/copies/subscriptions.h"
#include "protocol/hlrc/releases.h"
#include "protocol/homes/offers.h"
#include "protocol/node/grant.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Applies notice sets: of lock grants, of barrier exits, and of other nodes' eager releases.
class Acquires {
 public:
  Acquires(NodeState& node, Offers& offers, Releases& releases, Subscriptions& subscriptions,
           Refreshes& refreshes)
      : node_(node),
        offers_(offers),
        releases_(releases),
        subscriptions_(subscriptions),
        refreshes_(refreshes) {}
  Acquires(const Acquires&) = delete;

  // Drops or refreshes the copies that the notice set makes stale. Only then does this node's core
  // learn the set. barrier_exit: the number of the barrier exit, or 0 if the set came with `lock`
  // or is empty. activity: this node's activity when it arrived at the barrier, or when it asked
  // for the lock. grant: the set, and the blocks that came with it.
  Task<> apply(Strand& s, std::uint32_t barrier_exit, std::uint64_t activity, const Grant& grant,
               std::optional<LockId> lock = std::nullopt);
  // The same without a numbered barrier exit: for the notices of a gather, or with an empty set
  // after a round that was held in memory.
  Task<> apply_unnumbered(Strand& s, Bytes notices);
  // The same for what a fence has heard, or for none, by a fence that drops leases alone. What
  // becomes stale is dropped, except where the program wants updates.
  Task<> apply_at_fence(Strand& s, Bytes notices);
  // Applies what came with a count's token or with a wake-up, in two parts. learn() takes the
  // consistency lock and adds the notices to this node's core, so that other nodes can get them
  // from here. apply_learned() refreshes or drops the copies and releases the lock. So no other
  // thread of this node acquires or releases anything in between. meets: for the predictor, this is
  // an acquire at a barrier.
  Task<> learn(Strand& s, Grant& grant);
  Task<> apply_learned(Strand& s, const Grant& grant, LockId count, bool at_rendezvous);
  // Waits until other threads of this node have applied what they have learned.
  Task<> await_others(Strand& s);
  // As Hlrc::expire.
  Task<> expire(Strand& s, NodeId origin, Bytes ranges);

 private:
  Task<> close_interval(Strand& s);
  void name_wanted(LockId lock, std::vector<wire::WantedBlock>& wanted) const;
  void select_invalid(Bytes notices);

  NodeState& node_;
  Offers& offers_;
  Releases& releases_;
  Subscriptions& subscriptions_;
  Refreshes& refreshes_;
  std::vector<BlockRange> invalid_;  // copies that die at this acquire; under the consistency lock
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
