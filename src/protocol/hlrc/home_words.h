#pragma once

#include "protocol/hlrc/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a thread of the home finds.
enum class OfferedHome : std::uint8_t { kHere, kOfferEnded, kGone };

// Where the blocks' homes are: finds them by the directory, follows them where they have moved,
// claims and takes them for this node, by the home words of this node and of others.
class HomeWords {
 public:
  explicit HomeWords(NodeState& node) : node_(node) {}
  HomeWords(const HomeWords&) = delete;

  // The block's home: by the region's policy, or the first node that wrote it. kHomeFirstTouch:
  // nobody has, and a read claims nothing. same_owner: blocks that the directory named with it.
  Task<std::uint64_t> find_home(Strand& s, std::uint64_t block, Access wanted,
                                BlockRange& same_owner);
  // What the directory says of the block's owner, and so of those behind it: an owner stays until
  // the region is freed. known: a block of the same allocation whose home was found.
  Task<Owner> ask_owner(Strand& s, std::uint64_t block, std::uint64_t known);
  // The same of a block whose home was found; if it is nobody's, it becomes this node's.
  Task<Owner> claim_owner(Strand& s, std::uint64_t block);
  // Asked again now that an acquire would find the copy: since the first look somebody may have
  // claimed the block, written it and released.
  Task<NodeId> still_unclaimed(Strand& s, std::uint64_t block, BlockRange& same_owner);
  // Whether the block's region is being freed. Then some nodes have forgotten the block, perhaps
  // the one that its home went to. Others have not, because their threads first apply a barrier
  // exit. So does this thread, perhaps, while it waits for a word that no node will store. The
  // block's bytes matter no more.
  Task<bool> is_freed(Strand& s, std::uint64_t block);
  // The first of the run, as far as the words say that they are all at `next` now.
  Task<std::uint64_t> moved_together(Strand& s, BlockRange run, NodeId home, NodeId next);
  // A thread of the home needs the block, whose lock is held: an offer of it is ended.
  Task<OfferedHome> still_here(Strand& s, std::uint64_t block);
  // Whether the block, whose lock is held, was on offer, and is so no more.
  Task<bool> end_offer(Strand& s, std::uint64_t block);
  // Before a thread, which is counted as storing, stores a difference at a home. The home is looked
  // for where it went. An offer to another node is ended: that node would take bytes that lack
  // ours. A home that is not reached settles this itself, if a message comes by the word of `via`.
  // kNoNode: the block's region is being freed.
  Task<NodeId> settle(Strand& s, std::uint64_t block, NodeId home, NodeId& via);
  // A node that takes an untracked home tracks it, or gives notice: readers may rely on notices
  // from before the former home untracked it, and not all nodes that hear of our writes may have
  // its notice of that.
  bool tracks_taken(std::uint64_t block) const;
  // Blocks whose home this node has taken, whose bytes are here, and whose locks it holds: from
  // here on they are found here.
  Task<> become_home(Strand& s, BlockRange run, bool tracks);
  // The node's home word of the block, compare-and-swap. Result: whether it was `from`.
  Task<bool> swap_word(Strand& s, NodeId node, std::uint64_t block, std::uint32_t from,
                       std::uint32_t to);
  // A home cannot be evicted: only as many are taken as leave a part of the memory to copies.
  bool may_take() const;
  // Takes the home that is offered by `word`, unless that has changed. Who follows it here waits
  // from before it has moved until become_home().
  Task<bool> take(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word);
  // Our own word of a home that is not on offer.
  Task<> store_word(Strand& s, std::uint64_t block, std::uint32_t bits);
  // Whether the home stayed where a copy was made from since its word was loaded. A former home's
  // memory may hold anything.
  Task<bool> stayed(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word);
  // Whether the word offers the home to this node, which may take it now.
  bool is_armed_for_us(std::uint32_t word) const;
  // Whether this node has met a block of a region with eager releases.
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
  std::atomic<bool> eager_seen_{false};  // a block of a region with eager releases
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
