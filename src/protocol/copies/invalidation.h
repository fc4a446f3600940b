#pragma once

#include "protocol/copies/flushes.h"
#include "protocol/homes/offers.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Makes copies invalid: at an acquire, for an eviction, or because their region was freed. Their
// differences go home first, except those of a freed region. Under the consistency lock, which
// drop() takes itself.
class Invalidation {
 public:
  Invalidation(NodeState& node, Notices& notices, TrackedHomes& tracked_homes, Offers& offers,
               Flushes& flushes)
      : node_(node),
        notices_(notices),
        tracked_homes_(tracked_homes),
        offers_(offers),
        flushes_(flushes) {}
  Invalidation(const Invalidation&) = delete;

  // BUSY, zap, store the difference at the home, INVALID: in this order no write is lost. punch:
  // the copies are evicted, and their memory is given back.
  Task<> invalidate(Strand& s, BlockRange run, bool punch);
  // The same for a block whose lock is held and stays so; its memory stays, too. Result: its state,
  // which the caller enters.
  Task<BlockState> invalidate_held(Strand& s, std::uint64_t block);
  // As Hlrc::drop.
  Task<> drop(Strand& s, RegionId region, BlockRange range);

 private:
  Task<> invalidate_block(Strand& s, std::uint64_t block, bool evicted);
  bool is_copy(std::uint64_t block) const;
  Task<> finish_invalid(Strand& s, BlockRange run, bool punch);
  Task<bool> may_be_dirty(Strand& s, std::uint64_t block, BlockState state);
  Task<> drop_run(Strand& s, BlockRange run);

  NodeState& node_;
  Notices& notices_;
  TrackedHomes& tracked_homes_;
  Offers& offers_;
  Flushes& flushes_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
