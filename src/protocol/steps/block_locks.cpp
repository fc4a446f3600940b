#include "protocol/steps/block_locks.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> BlockLocks::lock_block(Strand& s, std::uint64_t block) {
  std::uint32_t seen = 0;
  co_await s.pause();
  while (!entries_[block].try_lock(seen)) {
    mark(Mark::kFaultWaitsForBusyBlock);
    co_await s.wait(entries_[block].word(), seen);
  }
}

Task<> BlockLocks::unlock_block(Strand& s, std::uint64_t block, BlockState state) {
  if (entries_[block].unlock(state)) co_await s.wake(entries_[block].word());
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
