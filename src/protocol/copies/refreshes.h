#pragma once

#include <cstdint>
#include <vector>

#include "protocol/copies/fetches.h"
#include "protocol/copies/flushes.h"
#include "protocol/copies/invalidation.h"
#include "protocol/copies/subscriptions.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/grant.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Refreshes copies that an acquire makes stale in their place, or drops them, as the region or the
// predictor says. Under the consistency lock.
class Refreshes {
 public:
  Refreshes(NodeState& node, HomeWords& homes, Subscriptions& subscriptions, Fetches& fetches,
            Flushes& flushes, Invalidation& invalidation)
      : node_(node),
        homes_(homes),
        subscriptions_(subscriptions),
        fetches_(fetches),
        flushes_(flushes),
        invalidation_(invalidation) {}
  Refreshes(const Refreshes&) = delete;

  // Drops the copies of the run or refreshes them in their place. A refresh saves the zap and the
  // fault. At a barrier exit it also saves an interruption of the home in the middle of its work,
  // because the home waits in the same barrier.
  Task<> refresh_or_invalidate(Strand& s, BlockRange run, AcquirePoint at);

 private:
  Task<> unmap_probes(Strand& s, BlockRange run);
  AcquirePlan plan_acquire(BlockRange run, Propagation wants, AcquirePoint at) const;
  Task<BlockRange> hold_stale(Strand& s, BlockRange within, AcquirePoint at);
  Task<> unlock_rest(Strand& s, BlockRange run, std::uint64_t count);
  Task<BlockRange> refresh(Strand& s, BlockRange run, AcquirePoint at);
  static void note_wanted(std::vector<wire::WantedBlock>& wanted, BlockRange run, NodeId home);
  Task<Fetched> fetch_stale(Strand& s, BlockRange run, NodeId home, AcquirePoint at);
  Task<> merge(Strand& s, BlockRange run, std::uint64_t same);

  NodeState& node_;
  HomeWords& homes_;
  Subscriptions& subscriptions_;
  Fetches& fetches_;
  Flushes& flushes_;
  Invalidation& invalidation_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
