#pragma once

#include "protocol/homes/home_words.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Blocks that one node wrote, or that are offered to it.
struct Written {
  BlockRange run;
  NodeId by;
};

// Homes follow their writers. If a barrier exit reports that one other node alone wrote a block,
// the home offers the block to that node, which takes it when it next fetches or flushes the block.
// Neither node waits for the other: an offer is a bit of the home's word, and taking it is one
// compare-and-swap. The first thread that comes in between (of the home, or with another node's
// flush) ends the offer, also by a swap. This is the home's part, under the consistency lock;
// HomeWords is the part of the other nodes.
class Offers {
 public:
  Offers(NodeState& node, Notices& notices, HomeWords& homes, TrackedHomes& tracked_homes)
      : node_(node), notices_(notices), homes_(homes), tracked_homes_(tracked_homes) {}
  Offers(const Offers&) = delete;

  // At a barrier exit with these notices: offers the homes that one other node alone wrote.
  Task<> offer_homes(Strand& s, Bytes notices);
  // Notes the writer of blocks in eager regions. Programs without barriers report writers without
  // end, so the list keeps only the first kMostEagerWriters.
  void note_eager_writer(BlockRange range, NodeId writer);
  // Forgets the writers of blocks whose region is freed.
  void forget_writers(BlockRange range);
  // As Hlrc::offer_asked.
  Task<std::uint64_t> offer_asked(Strand& s, Offer asked);
  // Whether other nodes wrote movable blocks of this node, as far as expiries have reported it, or
  // deferred offers are due.
  bool others_wrote() const { return others_wrote_.load(std::memory_order_relaxed); }

 private:
  void find_sole_writers(Bytes notices);
  void note_writer(BlockRange range, NodeId writer);
  Task<> offer(Strand& s, Written written, bool fresh);
  Task<> defer(Strand& s, std::uint64_t block, NodeId to);
  Task<bool> can_offer(Strand& s, std::uint64_t block, NodeId to);
  Task<> offer_part(Strand& s, BlockRange run, NodeId to);
  Task<> arm_offers(Strand& s);
  Task<bool> may_offer_asked(Strand& s, std::uint64_t block, NodeId to, OfferWish wish);

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
  TrackedHomes& tracked_homes_;
  // This node's blocks that the notices of a barrier exit name, by writer.
  std::vector<Written> writers_;
  // The blocks that are offered: at a barrier exit, those that one other node alone wrote.
  std::vector<Written> offers_;
  std::vector<Written> deferred_;  // offers of the next barrier exit
  // The writers of blocks in eager regions, which no barrier exit names: from the expiries since
  // the last exit.
  std::vector<Written> eager_writers_;
  std::atomic<bool> others_wrote_{false};  // as others_wrote()
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
