#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/serve/at_home.h"

// The nodes for which a home is read by the thread that serves messages there: bytes go to where a
// message takes them from.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Copies blocks of this node to where a message takes their bytes from: `out` has room for the run
// whose first block is `first`.
class SendCopy {
 public:
  SendCopy(std::uint64_t first, std::size_t block_bytes, std::byte* out)
      : first_(first), block_bytes_(block_bytes), out_(out) {}
  Task<> copy(Strand& s, BlockRange blocks) {
    for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
      std::byte* to = out_ + (b - first_) * block_bytes_;
      co_await s.perform(ReadBlock{.block = BlockId{b}, .to = to});
    }
  }

 private:
  std::uint64_t first_;
  std::size_t block_bytes_;
  std::byte* out_;
};

// A node that cannot reach this node's memory and has sent a fetch. Takes homes for it by a swap,
// and counts how many it is giving away, so that their memory stays until they are copied.
class Requester : public HomeReader {
 public:
  Requester(NodeId self, NodeId node, bool may_take, std::uint64_t first, std::size_t block_bytes,
            std::byte* out)
      : self_(self), node_(node), may_take_(may_take), copy_(first, block_bytes, out) {}

  bool wants_home(std::uint32_t word) const override {
    return may_take_ && is_armed_for(word, node_);
  }
  Task<bool> take(Strand& s, std::uint64_t block, std::uint32_t word) override {
    mark(Mark::kServesOwn);
    bool counted = !mutant(Mutant::kServeUncounted);
    if (counted) co_await s.perform(CountGiving{true});
    std::uint32_t moved = word_for(node_) | kMoved | (word & kTimes);
    bool taken = co_await s.perform(SwapWord{self_, BlockId{block}, word, moved});
    taken = taken || mutant(Mutant::kServeUnswapped);
    if (counted && taken) ++giving_;
    if (counted && !taken) co_await s.perform(CountGiving{false});
    co_return taken;
  }
  Task<> copy(Strand& s, BlockRange blocks) override { return copy_.copy(s, blocks); }
  Task<> end_take(Strand& s) override {
    for (; giving_ > 0; --giving_) co_await s.perform(CountGiving{false});
  }

 private:
  NodeId self_;
  NodeId node_;
  bool may_take_;
  SendCopy copy_;
  std::uint32_t giving_ = 0;
};

// Several nodes that have not asked: those that subscribed, or to which a block goes with a grant.
// A block whose home one of them may take is not sent: they have to ask for it.
class SubscribedNodes : public HomeReader {
 public:
  // entries: of this node; nullptr: it may be every block's home.
  SubscribedNodes(NodeId self, const BlockEntry* entries, std::span<const NodeId> nodes,
                  SendCopy copy)
      : self_(self), entries_(entries), nodes_(nodes), copy_(copy) {}

  bool admits(std::uint64_t block, std::uint32_t word) const override {
    bool taken = std::any_of(nodes_.begin(), nodes_.end(),
                             [word](NodeId node) { return is_armed_for(word, node); });
    if (taken) mark(Mark::kServesNoPush);
    // A subscription outlives its region. The word of a freed block looks like that of a home.
    bool freed = entries_ != nullptr && !entries_[block].may_be_home(self_);
    return !taken && (!freed || mutant(Mutant::kPushesFreed));
  }
  Task<> copy(Strand& s, BlockRange blocks) override { return copy_.copy(s, blocks); }

 private:
  NodeId self_;
  const BlockEntry* entries_;
  std::span<const NodeId> nodes_;
  SendCopy copy_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
