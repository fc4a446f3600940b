#pragma once

#include "protocol/hlrc/home_words.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What became of a copy's changes: whether there were any, and whether the block had no home and
// has it here now.
struct Flushed {
  bool changed = false;
  bool mine = false;
};

// Brings what this node's threads have written to copies to the blocks' homes, one block at a time,
// whose lock is held. Under the consistency lock.
class Flushes {
 public:
  Flushes(NodeState& node, Notices& notices, HomeWords& homes)
      : node_(node), notices_(notices), homes_(homes) {}
  Flushes(const Flushes&) = delete;

  // What a copy has more than its home goes there; it stays a copy, protected, or becomes the home.
  // written: it is known that somebody wrote to it.
  Task<BlockState> flush_copy(Strand& s, std::uint64_t block, bool written);
  // Brings a copy's changed bytes home and gives notice. written: it is known that somebody wrote
  // to it.
  Task<Flushed> flush_changes(Strand& s, std::uint64_t block, bool update_twin, bool written);
  // What was posted to homes whose memory cannot be reached has arrived there afterwards.
  Task<> await_flush(Strand& s);

 private:
  Task<bool> take_home_at_flush(Strand& s, std::uint64_t block);
  void note_flush(std::uint64_t block, bool changed);

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
