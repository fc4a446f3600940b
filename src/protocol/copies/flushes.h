#pragma once

#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The result of a flush. changed: the copy differed from its twin. mine: the block had no home, and
// this node is its home now.
struct Flushed {
  bool changed = false;
  bool mine = false;
};

// Stores at the homes what this node's threads have written to copies, one block at a time. The
// block's lock is held. Under the consistency lock.
class Flushes {
 public:
  Flushes(NodeState& node, Notices& notices, HomeWords& homes)
      : node_(node), notices_(notices), homes_(homes) {}
  Flushes(const Flushes&) = delete;

  // Stores the copy's difference at its home. Result: the block's state; it is still a copy, or its
  // home is here now. written: it is known that a thread wrote to the copy.
  Task<BlockState> flush_copy(Strand& s, std::uint64_t block, bool written);
  // Stores the bytes that differ from the twin at the home, and gives notice. update_twin: the twin
  // gets them as well. written: it is known that a thread wrote to the copy.
  Task<Flushed> flush_changes(Strand& s, std::uint64_t block, bool update_twin, bool written);
  // Waits until all that was posted to homes that cannot be reached has arrived there.
  Task<> await_flush(Strand& s);

 private:
  Task<bool> take_home_at_flush(Strand& s, std::uint64_t block);
  void note_flush(std::uint64_t block, bool changed);
  std::span<const std::uint32_t> known_to_homes() const;

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
