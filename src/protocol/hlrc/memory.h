#pragma once

#include "protocol/hlrc/invalidation.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

namespace sc {
class Pages;
}

// What a node gives back when its memory is short: first what it has no use for (frames of copies
// that died, and of homes that have moved; twins of what is at home here now), then copies.
class Memory {
 public:
  Memory(NodeState& node, Notices& notices, Invalidation& invalidation);
  Memory(const Memory&) = delete;

  // As Hlrc::evict.
  Task<> evict(Strand& s, BlockRange range, bool punch);
  // As Hlrc::free_memory.
  Task<> free_memory(Strand& s);
  // Until there is room for so many blocks, or no more than `floor` copies are left.
  Task<> make_room(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  // As Hlrc::trim.
  Task<> trim(Strand& s);
  // As Hlrc::tidy.
  Task<> tidy(Strand& s);
  // Copies of sequentially consistent pages count and go as well.
  void share_with(sc::Pages& sequential) { sequential_ = &sequential; }
  // Whether there is less room than a fault wants to find; makes some.
  bool is_short() const { return node_.room() < low_; }
  Task<> make_room(Strand& s) { return make_room(s, 2 * low_, node_.config.floor); }
  bool is_over_limit() const { return node_.room() == 0; }

 private:
  Task<> make_room_held(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  Task<> evict_sequential(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  Task<> evict_copies(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  BlockRange next_victims();
  Task<> give_back_idle(Strand& s, std::uint64_t blocks);
  Task<> give_back_twins(Strand& s, std::uint64_t blocks);
  Task<> give_back_moved(Strand& s);
  Task<> give_back(Strand& s, BlockRange run);
  Task<bool> may_go(Strand& s, std::uint64_t block);
  Task<bool> has_arrived(Strand& s, std::uint64_t block, std::uint32_t word);

  NodeState& node_;
  Notices& notices_;
  Invalidation& invalidation_;
  sc::Pages* sequential_ = nullptr;
  std::uint64_t low_ = 0;         // a fault wants to find so much room
  std::uint64_t evict_hand_ = 0;  // under the consistency lock, as the next one
  std::uint64_t moved_hand_ = 0;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
