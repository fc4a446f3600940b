#pragma once

#include "protocol/node/node_state.h"
#include "protocol/serve/at_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a thread of the home finds: the home is here, or its offer was just ended, or it has moved.
enum class OfferedHome : std::uint8_t { kHere, kOfferEnded, kGone };

// The homes of blocks: finds them in the directory, follows those that have moved, and claims or
// takes them for this node, by the home words of this node and of others.
class HomeWords {
 public:
  explicit HomeWords(NodeState& node) : node_(node) {}
  HomeWords(const HomeWords&) = delete;

  // The block's home: by the region's policy, or the first node that wrote it. kHomeFirstTouch: no
  // node has written it, and a read claims nothing. kHomeNowhere: it is in no region. same_owner:
  // receives the blocks that the directory named with it.
  Task<std::uint64_t> find_home(Strand& s, std::uint64_t block, Access wanted,
                                BlockRange& same_owner);
  // Notes the policy of the block's region, as a RegionFind answered. The block's lock is held.
  void set_policy(std::uint64_t block, std::uint64_t found);
  // Asks the directory for the block's owner, and for how many blocks behind it have the same one.
  // Owners stay until the region is freed. known: a block of the same allocation whose home was
  // found.
  Task<Owner> ask_owner(Strand& s, std::uint64_t block, std::uint64_t known);
  // The same for a block whose home was found; if no node owns it, this node becomes its owner.
  Task<Owner> claim_owner(Strand& s, std::uint64_t block);
  // Asks again, now that an acquire would find the copy: since the first look another node may have
  // claimed the block, written it and released.
  Task<NodeId> still_unclaimed(Strand& s, std::uint64_t block, BlockRange& same_owner);
  // Whether the block's region is being freed. Then some nodes have forgotten the block, perhaps
  // also the node to which its home moved. Others have not, because their threads first apply a
  // barrier exit. This thread may be one of these, while it waits for a word that no node will
  // store. The block's bytes do not matter any more.
  Task<bool> is_freed(Strand& s, std::uint64_t block);
  // For a thread of the home that needs the block, whose lock is held: ends an offer of it.
  Task<OfferedHome> still_here(Strand& s, std::uint64_t block);
  // Ends an offer of the block, whose lock is held. Result: whether there was one that could be
  // ended.
  Task<bool> end_offer(Strand& s, std::uint64_t block);
  // Before a thread, which counts as storing, stores a difference at a home. Follows the home to
  // where it has moved. Ends an offer to another node, which would take bytes that lack this
  // node's. A home that cannot be reached does the same by itself. via: receives the former home
  // whose word named the result. kNoNode: the block's region is being freed.
  Task<NodeId> settle(Strand& s, std::uint64_t block, NodeId home, NodeId& via);
  // Whether a node that takes an untracked home has to track it or give notice. Readers may rely on
  // notices from before the former home untracked it, and not all nodes that learn of this node's
  // writes need have the former home's notice.
  bool tracks_taken(std::uint64_t block) const;
  // For blocks whose home this node has taken, whose bytes are here, and whose locks it holds:
  // stores this node's words, so that other nodes find the homes here.
  Task<> become_home(Strand& s, BlockRange run, bool tracks);
  // If homes look for races: this node's home block, whose lock is held and which is in no view, or
  // protected, becomes tracked, and stays so.
  Task<> track_checked(Strand& s, std::uint64_t block);
  // Compare-and-swap of a node's home word of the block. Result: whether the word was `from`.
  Task<bool> swap_word(Strand& s, NodeId node, std::uint64_t block, std::uint32_t from,
                       std::uint32_t to);
  // Whether this node may take homes now. A home cannot be evicted, so a part of the memory is left
  // to copies.
  bool may_take() const;
  // Takes the home that `word` offers, unless the word has changed. Threads that follow the home to
  // this node wait until become_home().
  Task<bool> take(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word);
  // Stores this node's own word of a home that is not on offer.
  Task<> store_word(Strand& s, std::uint64_t block, std::uint32_t bits);
  // Whether the word offers the home to this node, which may take it now.
  bool is_armed_for_us(std::uint32_t word) const;
  // Whether this node has looked up a block of a region with eager releases.
  bool has_seen_eager() const { return eager_seen_.load(std::memory_order_relaxed); }

 private:
  Task<> claim_neighbours(Strand& s, std::uint64_t block);
  Task<std::uint64_t> claim_behind(Strand& s, std::uint64_t block, std::uint64_t most);
  Task<std::uint64_t> claim_before(Strand& s, std::uint64_t block, std::uint64_t most);
  Task<bool> lock_unclaimed(Strand& s, std::uint64_t block, std::uint64_t more);
  Task<std::uint64_t> claim_locked(Strand& s, BlockRange run, std::uint64_t neighbour);
  Task<std::uint64_t> claim_run(Strand& s, BlockRange run, std::uint64_t neighbour);
  Task<> enter_claimed(Strand& s, BlockRange run, std::uint64_t claimed, std::uint64_t neighbour);

  NodeState& node_;
  AtHome at_home_;
  std::atomic<bool> eager_seen_{false};  // a block of a region with eager releases
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
