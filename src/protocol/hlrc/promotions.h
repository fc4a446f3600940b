#pragma once

#include "protocol/copies/flushes.h"
#include "protocol/copies/invalidation.h"
#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/atomics.h"
#include "protocol/hlrc/faults.h"
#include "protocol/hlrc/releases.h"
#include "protocol/homes/home_words.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/steps/ordering.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks become synchronisation pages: pages that loads and stores synchronise by, as those of one
// machine do. From then on sc::Pages serves the block: one node may write it, or many may read it.
// When it passes from a writer to another node, the writer makes a release and the other node
// acquires (docs/design/synchronisation.md).
class Promotions final : public Ordering {
 public:
  Promotions(NodeState& node, HomeWords& homes, TrackedHomes& tracked_homes, Releases& releases,
             Flushes& flushes, Invalidation& invalidation, Acquires& acquires, Faults& faults)
      : node_(node),
        homes_(homes),
        tracked_homes_(tracked_homes),
        releases_(releases),
        flushes_(flushes),
        invalidation_(invalidation),
        acquires_(acquires),
        faults_(faults) {}
  Promotions(const Promotions&) = delete;

  // As Hlrc::fault, in a job with one order of all loads and stores.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // As Hlrc::atomic, in such a job.
  Task<AtomicDone> atomic(Strand& s, BlockId block);
  // As Hlrc::promote.
  Task<FaultResult> promote(Strand& s, BlockId block);
  // For another node that makes the block a synchronisation page: if this node is its home and the
  // locks are free, it stays the home for good, and its threads see the page no more. Waits for no
  // thread. Result: kStaysHere; kAskNode + the node to which the home has moved; or 0: ask again.
  Task<std::uint64_t> home_stays(Strand& s, std::uint64_t block);
  // On each node after that: drops its copy, and makes a release.
  Task<> demote_copy(Strand& s, std::uint64_t block, NodeId home);
  Task<> release_all(Strand& s) override;
  Task<> acquire_from(Strand& s, NodeId node) override;

 private:
  static constexpr std::uint64_t kStaysHere = 1, kAskNode = 2;

  Task<> demote_all(Strand& s, std::uint64_t block, NodeId home);
  Task<> claim_copy(Strand& s, std::uint64_t block);
  Task<NodeId> find_staying_home(Strand& s, std::uint64_t block);
  std::uint64_t answer_for(NodeId home) const;
  Task<std::uint64_t> home_stays_held(Strand& s, std::uint64_t block);
  Task<> enter_synchronises(Strand& s, std::uint64_t block, NodeId home);

  NodeState& node_;
  HomeWords& homes_;
  TrackedHomes& tracked_homes_;
  Releases& releases_;
  Flushes& flushes_;
  Invalidation& invalidation_;
  Acquires& acquires_;
  Faults& faults_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
