#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Copies that die at acquires and are missed again soon, time after time, are refreshed instead.
// Each has to show now and then that it is used: a copy on probation is dropped for that, others
// are unmapped first (probe.h).
class Refresh {
 public:
  explicit Refresh(Past& past) : past_(past) {}

  void missed(std::uint64_t block);
  // Whether the block is refreshed at barriers after a miss in this round. predicted: a first miss
  // is enough.
  bool becomes_refreshed(std::uint64_t block, bool predicted) const;
  // A miss of a neighbour prefetches the block, which is not on probation. Blocks that were
  // refreshed and dropped together have shown their use together. Else each block of a run would be
  // missed by itself, one in each round.
  void shown_by_neighbour(std::uint64_t block);
  // What an acquire does with the first blocks of the run.
  AcquirePlan plan(BlockRange run, bool barrier, const CopiesAtAcquire& copies) const;
  void dropped(BlockRange run, bool barrier);
  void refreshed(BlockRange run, bool barrier);

 private:
  bool is_refreshed(std::uint64_t block, bool barrier, const CopiesAtAcquire& copies) const;
  bool is_due(const BlockHistory& past) const;
  bool is_left_over(std::uint64_t block, BlockRange run, const CopiesAtAcquire& copies) const;
  std::uint64_t count_dropped(BlockRange run, bool barrier, const CopiesAtAcquire& copies) const;
  void show_together(BlockRange run);

  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
