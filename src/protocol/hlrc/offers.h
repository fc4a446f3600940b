#pragma once

#include "protocol/hlrc/home_words.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/notices.h"
#include "protocol/hlrc/tracked_homes.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks that one node wrote, or to which they are offered.
struct Written {
  BlockRange run;
  NodeId by;
};

// Homes follow their writers. At a departure that says that one other node alone wrote a block, its
// home offers it to that node, which takes it when it comes for the block again. Neither waits for
// the other: an offer is a bit of the home's word, taking it is one compare-and-swap, and the first
// to come in between (the home's own threads, another node's flush) ends the offer by one, too.
// This is the home's half, under the consistency lock; HomeWords is that of the other nodes.
class Offers {
 public:
  Offers(NodeState& node, Notices& notices, HomeWords& homes, TrackedHomes& tracked_homes)
      : node_(node), notices_(notices), homes_(homes), tracked_homes_(tracked_homes) {}
  Offers(const Offers&) = delete;

  // At a departure with these notices: offers the homes that follow their writers by it.
  Task<> offer_homes(Strand& s, Bytes notices);
  // Programs without barriers tell of writers for ever: then the first ones have to do.
  void note_eager_writer(BlockRange range, NodeId writer);
  // What is known of who wrote these blocks is of a region that is freed.
  void forget_writers(BlockRange range);
  // As Hlrc::offer_asked.
  Task<std::uint64_t> offer_asked(Strand& s, Offer asked);
  // Whether others wrote any of our movable blocks, as far as expiries have told of it.
  bool others_wrote() const { return others_wrote_.load(std::memory_order_relaxed); }

 private:
  void find_sole_writers(Bytes notices);
  void note_writer(BlockRange range, NodeId writer);
  Task<> offer(Strand& s, Written written, bool fresh);
  Task<> defer(Strand& s, std::uint64_t block, NodeId to);
  Task<bool> can_offer(Strand& s, std::uint64_t block, NodeId to);
  Task<> offer_part(Strand& s, BlockRange run, NodeId to);
  Task<> arm_offers(Strand& s);
  Task<bool> may_offer_asked(Strand& s, std::uint64_t block, NodeId to, bool reads);

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
  TrackedHomes& tracked_homes_;
  // Our blocks that a departure tells of, by writer; then those that one node alone wrote.
  std::vector<Written> writers_;
  std::vector<Written> offers_;
  std::vector<Written> deferred_;  // offers of the next departure
  // The same of eager regions, of which no departure tells: what expiries told since the last one;
  // and whether others wrote any.
  std::vector<Written> eager_writers_;
  std::atomic<bool> others_wrote_{false};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
