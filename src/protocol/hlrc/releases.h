#pragma once

#include <vector>

#include "protocol/copies/flushes.h"
#include "protocol/homes/offers.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Releases of this node: finds all that its threads have written, stores it at the homes and gives
// notice, before the release becomes visible. Releases of a node take turns.
class Releases {
 public:
  Releases(NodeState& node, Notices& notices, TrackedHomes& tracked_homes, Offers& offers,
           Flushes& flushes)
      : node_(node),
        notices_(notices),
        tracked_homes_(tracked_homes),
        offers_(offers),
        flushes_(flushes) {}
  Releases(const Releases&) = delete;

  // Flushes everything that this node's threads wrote, and makes it an interval. When it ends, the
  // release may become visible. Result: this node's activity.
  Task<std::uint64_t> release(Strand& s);
  // How many releases this node has begun, and the number of the latest one that has ended.
  std::uint64_t begun() const { return releases_begun_.load(); }
  std::uint64_t ended() const { return releases_ended_.load(); }
  // NodeState::dirty_count when the last release ended, and NodeState::taken when it began.
  std::uint64_t clean_count() const { return clean_count_.load(std::memory_order_acquire); }
  std::uint64_t clean_taken() const { return clean_taken_.load(std::memory_order_relaxed); }

 private:
  Task<> find_written(Strand& s);
  BlockRange next_to_scan(std::uint64_t from, std::uint64_t end) const;
  BlockRange runs_near(BlockRange run) const;
  Task<> scan_suspects(Strand& s, BlockRange group);
  Task<> flush_run(Strand& s, BlockRange run);
  Task<> protect_run(Strand& s, BlockRange run);
  Task<> close_accesses(Strand& s);
  Task<BlockState> flush_block(Strand& s, std::uint64_t block);
  std::uint32_t begin_expiry(std::vector<BlockRange>& told);
  Task<> finish_expiry(Strand& s, std::uint32_t number, std::vector<BlockRange>& told);

  NodeState& node_;
  Notices& notices_;
  TrackedHomes& tracked_homes_;
  Offers& offers_;
  Flushes& flushes_;
  bool untracked_ = false;  // this release found a tracked home written; under the consistency lock
  std::vector<BlockRange> written_;  // what this release flushes; under the consistency lock
  std::atomic<std::uint64_t> releases_begun_{0};
  std::atomic<std::uint64_t> releases_ended_{0};
  std::atomic<std::uint64_t> clean_count_{0};
  std::atomic<std::uint64_t> clean_taken_{0};
  std::uint32_t expiries_ = 0;             // begun; under the consistency lock
  std::atomic<std::uint32_t> expired_{0};  // of these, ended; they end in their order
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
