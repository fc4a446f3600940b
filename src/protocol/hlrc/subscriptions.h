#pragma once

#include <cstdint>
#include <vector>

#include "protocol/hlrc/fetched.h"
#include "protocol/hlrc/grant.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/push/promises.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a grant, or an arrival, brought of a block: nothing; its bytes; bytes that may be too old;
// or that the home has to be asked from now on.
enum class Brought : std::uint8_t { kNot, kHere, kStale, kGone };

// The reader's side of what homes send unasked: what this node has subscribed to, and takes of
// pushes, of grants and of the other one's arrival. Under the consistency lock, but for
// of_misses().
class Subscriptions {
 public:
  explicit Subscriptions(NodeState& node)
      : node_(node), expectations_(node.config.tunables.promised) {}
  Subscriptions(const Subscriptions&) = delete;

  // What misses were promised is expected from here on. What may have been ended meanwhile, or
  // comes within a longer run already, is not; nor what the predictor does not want any more.
  Task<> expect_promised(Strand& s);
  // A home that was asked once sends the run unasked at its next departures: it is as if we had
  // asked at that moment. If this node flushed or acquired after it arrived, the bytes of that
  // moment may be older than what its threads know, and it asks again. It asks, too, where the home
  // says so.
  Task<Fetched> take_news(Strand& s, BlockRange run, NodeId home, Departure at,
                          std::vector<std::uint32_t>& serials);
  // What was renewed is now by the serial number of the news, or by none.
  void note_news(const std::vector<std::uint32_t>& serials, std::uint64_t block,
                 std::uint64_t index, const Fetched& got);
  // Before the home is asked again: what it promises then is not what ends here.
  Task<bool> give_up(Strand& s, NodeId home, BlockRange run);
  // The homes of what nobody here expects any more hear of it.
  Task<> end_promises(Strand& s);
  // What came with the grant, or with the other node's arrival, that is being applied: the home
  // answered for the block as it would have answered a fetch. If this node flushed, acquired or
  // dropped a region after it asked for the lock, or arrived, that may be older than what its
  // threads know. What this node wrote since the departure before, the home may have sent along
  // without it, and sends as news: both see it in the departure's notices.
  Brought brought_by(const Strand& s, std::uint64_t block, NodeId home, Departure at) const;
  // The blocks that the grant, or the arrival, has of the run -> the staging buffer.
  Task<Fetched> take_granted(Strand& s, BlockRange run, NodeId home, Departure at,
                             std::vector<std::uint32_t>& serials);
  Expectations& expectations() { return expectations_; }
  const Expectations& expectations() const { return expectations_; }
  // What misses have subscribed to since the last acquire. By any thread.
  MissesPromises& of_misses() { return misses_promises_; }

 private:
  bool has_kept(std::uint64_t block, std::uint32_t serial) const;

  NodeState& node_;
  Expectations expectations_;
  MissesPromises misses_promises_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
