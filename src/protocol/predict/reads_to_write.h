#pragma once

#include "protocol/predict/block_history.h"
#include "protocol/steps/page_guesses.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At a synchronisation page that threads read and then write, as by a loop around a compare and
// swap: each write would ask the home once more. After a few such pairs in a row a read takes the
// page to write it. Now and then one does not, which shows whether writes still follow.
class ReadsToWrite final : public PageGuesses {
 public:
  // history: one entry for each block; the predictor's, which forgets it.
  explicit ReadsToWrite(BlockHistory* history) : history_(history) {}

  bool takes_to_write(std::uint64_t block) override {
    BlockHistory& past = history_[block];
    if (past.writes_followed < kAfter) return false;
    past.taken_to_write = static_cast<std::uint8_t>(past.taken_to_write + 1);
    return past.taken_to_write % kLookEvery != 0;
  }
  void came(std::uint64_t block, Access access) override {
    BlockHistory& past = history_[block];
    if (access == Access::kWrite && past.came_to_read && past.writes_followed < kAfter)
      past.writes_followed = static_cast<std::uint8_t>(past.writes_followed + 1);
    past.came_to_read = access == Access::kRead;
  }
  void left(std::uint64_t block) override {
    BlockHistory& past = history_[block];
    if (past.came_to_read) past.writes_followed = 0;
    past.came_to_read = false;
  }

 private:
  static constexpr std::uint8_t kAfter = 2, kLookEvery = 16;

  BlockHistory* history_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
