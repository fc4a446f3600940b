#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What came with a lock's token or with a barrier exit: the notice set, and blocks from their
// homes, sent with the token or with the other node's arrival.
struct Grant {
  struct Block {
    wire::GrantedBlock head;
    std::uint32_t at;  // offset of the block's bytes in `bytes`
  };

  // From the answer of a call: a notice set alone, or one that blocks follow.
  static Grant of_notices(std::vector<std::byte> answer);
  static Grant with_blocks(Bytes answer);
  // What came of the block, or nullptr.
  const Block* find(std::uint64_t block) const;

  std::uint64_t activity = kUnsettled;  // this node's activity when it asked
  std::vector<std::byte> notices{};
  std::vector<std::byte> bytes{};  // heads and contents of the blocks
  std::vector<Block> blocks{};
};

// An acquire that is being applied: a barrier exit, or the acquire of a lock.
struct AcquirePoint {
  std::uint32_t number = 0;  // of the barrier exit; 0: of a lock, or without a number
  bool usable = false;       // blocks that homes sent with it may be used
  const Grant& grant;
  bool at_barrier = false;  // without a number: after a gather, an in-memory round or arrive()
  bool at_fence = false;    // fences come too often for refreshes
  // If not nullptr, collects the blocks that the next grant of the lock could carry.
  std::vector<wire::WantedBlock>* wanted = nullptr;

  bool is_of_barrier() const { return number != 0 || at_barrier; }
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
