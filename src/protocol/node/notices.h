#pragma once

#include <cstdint>
#include <vector>

#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The blocks that this node's threads have written in the current interval, which is not closed
// yet. Under the consistency lock.
class Notices {
 public:
  explicit Notices(NodeState& node)
      : node_(node), most_notices_(node.config.tunables.most_notices) {
    notices_.reserve(4096);
  }
  Notices(const Notices&) = delete;

  // The block was changed. If its region has eager releases, its copies are to expire.
  void notice(std::uint64_t block);
  // If homes look for races, for a home block that was written: finds what this node's threads have
  // changed since the last time, and gives notice, also if they have put the old bytes back: a copy
  // may have others. The block's lock is held.
  Task<> compare_home(Strand& s, std::uint64_t block);
  // Whether a notice of a node other than `home` names a block of the run.
  static bool is_named(Bytes notices, NodeId home, BlockRange run);
  bool empty() const { return notices_.empty(); }
  std::size_t size() const { return notices_.size(); }
  const std::vector<BlockRange>& ranges() const { return notices_; }
  // The interval is closed with these notices.
  void clear() {
    notices_.clear();
    most_notices_ = node_.config.tunables.most_notices;
  }
  // Moves the blocks whose copies are to expire to `into`, which is empty.
  void take_eager(std::vector<BlockRange>& into) { into.swap(eager_); }
  // Only for planted faults.
  void forget_behind(std::size_t size) { notices_.resize(size); }

 private:
  static void add_block(std::vector<BlockRange>& to, std::uint64_t block);

  NodeState& node_;
  std::vector<BlockRange> notices_;
  std::vector<BlockRange> eager_;  // blocks whose copies are to expire
  std::uint64_t most_notices_;     // size from which on notices_ is joined
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
