#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What came with a lock's token or with a barrier's exit: the notice set, and behind it, with the
// token or the other one's arrival, blocks as their homes had them.
struct Grant {
  struct Block {
    wire::GrantedBlock head;
    std::uint32_t at;  // of the block's bytes, in `bytes`
  };

  // Of a call's answer: a notice set alone; or one with blocks behind it.
  static Grant of_notices(std::vector<std::byte> answer);
  static Grant with_blocks(Bytes answer);
  // What it has of the block, or nullptr.
  const Block* find(std::uint64_t block) const;

  std::uint64_t activity = kUnsettled;  // this node's when it asked for it
  std::vector<std::byte> notices{};
  std::vector<std::byte> bytes{};  // heads and contents of the blocks
  std::vector<Block> blocks{};
};

// A departure that is being applied, or the acquire of a lock.
struct Departure {
  std::uint32_t number = 0;  // 0: a lock's
  bool usable = false;       // what homes sent with it may be taken
  const Grant& grant;
  bool at_barrier = false;  // of no number: of a join, or of a barrier that was held in memory
  // Collects what the acquire of a lock could have brought, where it is not nullptr.
  std::vector<wire::WantedBlock>* wanted = nullptr;

  bool is_of_barrier() const { return number != 0 || at_barrier; }
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
