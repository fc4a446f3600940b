#pragma once

#include <vector>

#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Home blocks of this node whose writes are detected, so that readers keep their copies until a
// notice names them. Decides which blocks become tracked, and which are no longer.
class TrackedHomes {
 public:
  TrackedHomes(NodeState& node, Notices& notices, HomeWords& homes)
      : node_(node), notices_(notices), homes_(homes) {}
  TrackedHomes(const TrackedHomes&) = delete;

  // A tracked home block was written: leaves it to leases, with a notice for the copies that rely
  // on one. If homes look for races, it stays tracked, and gets the notice.
  Task<> untrack(Strand& s, std::uint64_t block);
  // The same for one that a release has found written: it may also stay tracked, with the notice.
  Task<> found_written(Strand& s, std::uint64_t block);
  // The home block, which has left the view, leaves this protocol. What was stored to it since the
  // last release cannot be found any more, so it gets the notice now: copies die at the next
  // acquire of what this node releases, even before each node is told to drop its own.
  Task<> end(Strand& s, std::uint64_t block);
  // Leaves all tracked blocks to leases, with notices, if the predictor says so: no thread has
  // written them since they were tracked.
  Task<> untrack_idle(Strand& s);
  // For home blocks that readers asked for since the last release, as the predictor says: protects
  // them, then lets readers keep their copies until a notice.
  Task<> track_wanted(Strand& s);

  // Readers of the home rely on leases from now on, without a notice. word: what stays of the word.
  Task<> leave_to_leases(Strand& s, std::uint64_t block, std::uint32_t word);

 private:
  Task<> end_tracking(Strand& s, std::uint64_t block);
  std::uint64_t count() const;
  Task<bool> may_untrack(Strand& s, std::uint64_t block);
  Task<> publish(Strand& s, BlockRange run);
  Task<> track_run(Strand& s, BlockRange run);
  Task<bool> trackable(Strand& s, std::uint64_t block);
  Task<> track_part(Strand& s, BlockRange run);

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
  std::vector<BlockRange> wanted_;  // under the consistency lock
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
