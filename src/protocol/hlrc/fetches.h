#pragma once

#include "protocol/hlrc/fetched.h"
#include "protocol/hlrc/home_words.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/subscriptions.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Brings the bytes of homes to this node, into its blocks or to the staging buffer: from memory
// that can be reached, or by messages.
class Fetches {
 public:
  Fetches(NodeState& node, HomeWords& homes, Subscriptions& subscriptions)
      : node_(node), homes_(homes), subscriptions_(subscriptions) {}
  Fetches(const Fetches&) = delete;

  // The home's bytes, into our blocks or the staging buffer; by the home's words the copies stay
  // leases or not (stages: got.tracked says so, and they are leases until merged), and may be
  // offered to this node, which takes them by that. Only the first blocks, as far as they are alike
  // in this, and where the home has moved the first alone, from where it went. again: so many of
  // the first blocks are wanted at coming departures as well.
  Task<Fetched> fetch(Strand& s, BlockRange run, NodeId home, bool stages, std::uint64_t again);
  // What a miss brings. The predictor may subscribe to the first blocks at once, which spares the
  // question at the next barrier exit.
  Task<Fetched> fetch_missed(Strand& s, BlockRange run, NodeId home);
  // The home does for us, in the same order, what we would do in its memory. Where nothing came
  // `home` is the node to ask, perhaps the same again.
  Task<Fetched> fetch_by_message(Strand& s, BlockRange run, NodeId home, bool stages,
                                 FetchWish wish);
  // The copies are there for all to see: those that the home tracks are leases no more.
  void settle_leases(BlockRange run, std::uint64_t tracked);

 private:
  Task<std::uint64_t> copy_some(Strand& s, BlockRange run, Fetched& got, std::uint32_t word,
                                std::uint32_t must, bool stages);
  Task<> want(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word, bool stages);

  NodeState& node_;
  HomeWords& homes_;
  Subscriptions& subscriptions_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
