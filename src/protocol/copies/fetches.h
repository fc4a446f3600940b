#pragma once

#include "protocol/copies/subscriptions.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/fetched.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Fetches the bytes of blocks from their homes, into this node's blocks or the staging buffer: from
// memory that can be reached, or by messages.
class Fetches {
 public:
  Fetches(NodeState& node, HomeWords& homes, Subscriptions& subscriptions)
      : node_(node), homes_(homes), subscriptions_(subscriptions) {}
  Fetches(const Fetches&) = delete;

  // Fetches the first blocks of the run, into this node's blocks or (stages) the staging buffer.
  // The home's words say whether the copies stay leases; if staged, they are leases until they are
  // merged, and got.tracked has the answer. If the homes are offered to this node, it takes them
  // (got.own). All blocks of the result are offered, or none. If the home of the first block has
  // moved, only blocks that moved with it are fetched, from there. again: how many of the first
  // blocks the home should push at later barrier exits.
  Task<Fetched> fetch(Strand& s, BlockRange run, NodeId home, bool stages, std::uint64_t again);
  // Fetches the blocks of a miss. The predictor may subscribe to the first ones at once, which
  // saves the request at the next barrier exit.
  Task<Fetched> fetch_missed(Strand& s, BlockRange run, NodeId home);
  // One look at a home: reads its memory or, if that is out of reach, asks it by a message. If no
  // block came, the result's `home` is the node to ask, perhaps the same one.
  Task<Fetched> ask(Strand& s, BlockRange run, NodeId home, bool stages, FetchWish wish);
  // The copies are complete, and other threads may see them: those that the home tracks are no
  // longer leases. tracked: a bit for each.
  void settle_leases(BlockRange run, std::uint64_t tracked);

 private:
  NodeState& node_;
  HomeWords& homes_;
  Subscriptions& subscriptions_;
  AtHome at_home_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
