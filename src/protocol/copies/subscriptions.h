#pragma once

#include <cstdint>
#include <vector>

#include "protocol/node/fetched.h"
#include "protocol/node/grant.h"
#include "protocol/node/node_state.h"
#include "protocol/push/subscribers.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a grant, or an arrival, has of a block. kNot: nothing. kHere: its bytes, or that the copy is
// current. kStale: bytes that may be too old. kGone: the home has to be asked from now on.
enum class Sent : std::uint8_t { kNot, kHere, kStale, kGone };

// The reader's side of subscriptions: what this node has subscribed to, and what it uses of pushes,
// of grants and of the other node's arrival. Under the consistency lock, except for of_misses().
class Subscriptions {
 public:
  explicit Subscriptions(NodeState& node)
      : node_(node), runs_(node.config.tunables.unused_pushes) {}
  Subscriptions(const Subscriptions&) = delete;

  // From here on this node expects the pushes to which misses have subscribed. It ends
  // subscriptions that may have been ended meanwhile, that are part of a longer run's, or that the
  // predictor does not want any more.
  Task<> expect_subscribed(Strand& s);
  // Takes the run's push of this barrier exit. At each exit the home sends the run as if this node
  // had asked at that moment. If this node flushed or acquired after it arrived at the barrier, the
  // bytes may be older than what its threads know. Then, or if the home says so, it has to ask the
  // home (count 0).
  Task<Fetched> take_push(Strand& s, BlockRange run, NodeId home, AcquirePoint at,
                          std::vector<std::uint32_t>& versions);
  // After a refresh: the copy has the version of the push now, or none.
  void note_version(const std::vector<std::uint32_t>& versions, std::uint64_t block,
                    std::uint64_t index, const Fetched& got);
  // Before the home is asked again, so that a subscription made then is not the one that ends here.
  Task<bool> give_up(Strand& s, NodeId home, BlockRange run);
  // Sends the homes word of the subscriptions that ended here.
  Task<> end_subscriptions(Strand& s);
  // What came of the block with the grant, or with the other node's arrival, that is being applied.
  // The home has answered for the block as for a fetch. If this node flushed, acquired or dropped a
  // region after it asked for the lock, or arrived, the answer may be older than what its threads
  // know. An arrival may lack what this node wrote since the barrier exit before. Then the home
  // pushes the block as well: both nodes see that in the notices of the exit.
  Sent sent_with(std::uint64_t block, NodeId home, AcquirePoint at) const;
  // Copies the run's blocks in the grant, or in the arrival, to the staging buffer.
  Task<Fetched> take_granted(Strand& s, BlockRange run, NodeId home, AcquirePoint at,
                             std::vector<std::uint32_t>& versions);
  SubscribedRuns& runs() { return runs_; }
  const SubscribedRuns& runs() const { return runs_; }
  // The subscriptions that misses have made since the last acquire. By any thread.
  MissSubscriptions& of_misses() { return of_misses_; }

 private:
  bool has_version(std::uint64_t block, std::uint32_t version) const;

  NodeState& node_;
  SubscribedRuns runs_;
  MissSubscriptions of_misses_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
