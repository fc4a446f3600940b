#pragma once

#include <cstdint>
#include <vector>

#include "protocol/hlrc/fetched.h"
#include "protocol/hlrc/grant.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/push/subscribers.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a grant, or an arrival, brought of a block: nothing; its bytes; bytes that may be too old;
// or that the home has to be asked from now on.
enum class Sent : std::uint8_t { kNot, kHere, kStale, kGone };

// The reader's side of what homes send unasked: what this node has subscribed to, and takes of
// pushes, of grants and of the other one's arrival. Under the consistency lock, but for
// of_misses().
class Subscriptions {
 public:
  explicit Subscriptions(NodeState& node)
      : node_(node), runs_(node.config.tunables.unused_pushes) {}
  Subscriptions(const Subscriptions&) = delete;

  // What misses have subscribed to is expected from here on. What may have been ended meanwhile, or
  // comes within a longer run already, is not; nor what the predictor does not want any more.
  Task<> expect_subscribed(Strand& s);
  // A home that was asked once sends the run unasked at its next departures: it is as if we had
  // asked at that moment. If this node flushed or acquired after it arrived, the bytes of that
  // moment may be older than what its threads know, and it asks again. It asks, too, where the home
  // says so.
  Task<Fetched> take_push(Strand& s, BlockRange run, NodeId home, Departure at,
                          std::vector<std::uint32_t>& versions);
  // What was refreshed has the version of the push now, or none.
  void note_version(const std::vector<std::uint32_t>& versions, std::uint64_t block,
                    std::uint64_t index, const Fetched& got);
  // Before the home is asked again: what is subscribed to then is not what ends here.
  Task<bool> give_up(Strand& s, NodeId home, BlockRange run);
  // The homes of what nobody here expects any more hear of it.
  Task<> end_subscriptions(Strand& s);
  // What came with the grant, or with the other node's arrival, that is being applied: the home
  // answered for the block as it would have answered a fetch. If this node flushed, acquired or
  // dropped a region after it asked for the lock, or arrived, that may be older than what its
  // threads know. What this node wrote since the departure before, the home may have sent with its
  // arrival without it, and pushes: both see it in the departure's notices.
  Sent sent_with(std::uint64_t block, NodeId home, Departure at) const;
  // The blocks that the grant, or the arrival, has of the run -> the staging buffer.
  Task<Fetched> take_granted(Strand& s, BlockRange run, NodeId home, Departure at,
                             std::vector<std::uint32_t>& versions);
  SubscribedRuns& runs() { return runs_; }
  const SubscribedRuns& runs() const { return runs_; }
  // What misses have subscribed to since the last acquire. By any thread.
  MissSubscriptions& of_misses() { return of_misses_; }

 private:
  bool has_version(std::uint64_t block, std::uint32_t version) const;

  NodeState& node_;
  SubscribedRuns runs_;
  MissSubscriptions of_misses_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
