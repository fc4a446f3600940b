#pragma once

#include <cstdint>
#include <vector>

#include "protocol/hlrc/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What this node's threads have written in the interval under way, and have not told of yet. Under
// the consistency lock.
class Notices {
 public:
  explicit Notices(NodeState& node)
      : node_(node), most_notices_(node.config.tunables.most_notices) {
    notices_.reserve(4096);
  }
  Notices(const Notices&) = delete;

  // The block was changed. Where releases are eager its copies are to expire.
  void notice(std::uint64_t block);
  // Whether a notice of another than `home` names some of the blocks.
  static bool is_named(Bytes notices, NodeId home, BlockRange run);
  bool empty() const { return notices_.empty(); }
  std::size_t size() const { return notices_.size(); }
  const std::vector<BlockRange>& ranges() const { return notices_; }
  // They were told: the interval is over.
  void clear() {
    notices_.clear();
    most_notices_ = node_.config.tunables.most_notices;
  }
  // Blocks whose copies are to expire.
  void take_eager(std::vector<BlockRange>& into) { into.swap(eager_); }
  // For planted faults alone.
  void forget_behind(std::size_t size) { notices_.resize(size); }

 private:
  static void add_block(std::vector<BlockRange>& to, std::uint64_t block);

  NodeState& node_;
  std::vector<BlockRange> notices_;
  std::vector<BlockRange> eager_;  // the same of blocks whose copies are to expire
  std::uint64_t most_notices_;     // ... until they are joined
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
