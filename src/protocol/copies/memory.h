#pragma once

#include "protocol/copies/invalidation.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

namespace sc {
class Pages;
}

// Gives back memory when it is short: first what this node has no use for (pages of copies that
// died and of homes that moved, twins of blocks whose home is here now), then copies.
class Memory {
 public:
  Memory(NodeState& node, Notices& notices, Invalidation& invalidation);
  Memory(const Memory&) = delete;

  // As Hlrc::evict.
  Task<> evict(Strand& s, BlockRange range, bool punch);
  // As Hlrc::free_memory.
  Task<> free_memory(Strand& s);
  // Gives back memory until there is room for so many blocks, or at most `floor` copies are left.
  Task<> make_room(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  // As Hlrc::trim.
  Task<> trim(Strand& s);
  // As Hlrc::tidy.
  Task<> tidy(Strand& s);
  // Copies of sequentially consistent pages count against the same limit and are evicted as well.
  void share_with(sc::Pages& sequential) { sequential_ = &sequential; }
  // Whether there is less room than a fault needs; make_room() makes some.
  bool is_short() const { return node_.room() < low_; }
  Task<> make_room(Strand& s) {
    return make_room(s, std::max(2 * low_, at_once()), node_.config.floor);
  }
  bool is_over_limit() const { return node_.room() == 0; }

 private:
  std::uint64_t at_once() const {
    return std::min<std::uint64_t>(kRoomAtOnce, node_.config.limit / 128);
  }
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
  std::uint64_t low_ = 0;         // blocks of room that a fault needs
  std::uint64_t evict_hand_ = 0;  // the next eviction; under the consistency lock, as the next one
  std::uint64_t moved_hand_ = 0;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
