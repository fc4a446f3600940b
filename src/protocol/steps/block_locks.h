#pragma once

#include "protocol/steps/block_table.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The locks of a node's blocks, for operations. The host owns the entries.
class BlockLocks {
 protected:
  explicit BlockLocks(BlockEntry* entries) : entries_(entries) {}

  Task<> lock_block(Strand& s, std::uint64_t block);
  Task<> unlock_block(Strand& s, std::uint64_t block, BlockState state);

  BlockEntry* entries_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
