#pragma once

#include <atomic>
#include <cstdint>

#include "protocol/steps/block_set.h"
#include "protocol/steps/block_table.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The memory that a node's protocol works in. Zeroed; the host owns it.
struct BlockMemory {
  static constexpr int kSets = 12;
  static constexpr int kScCopies = 8;  // the set of sc::Pages

  BlockEntry* entries = nullptr;     // the number of sc::Pages' set
  BlockSet::Word* sets[kSets] = {};  // BlockSet::words_needed(blocks) each
  // How many frames and twins the host keeps now; nullptr: counted as 0.
  const std::atomic<std::uint64_t>* used = nullptr;
  const bool* reached = nullptr;  // by node: is its memory in reach; nullptr: every node's is
};

// The result of a fault. kDone: the block is accessible; kForeign: the address is in no region;
// kNoMemory: there is no memory for it; kSynchronises: the block is a synchronisation page, which
// the other protocol serves; kElsewhere: it is to become one (HlrcConfig::sequential).
enum class FaultResult : std::uint8_t { kDone, kForeign, kNoMemory, kSynchronises, kElsewhere };

// The room for copies, which the pages of all protocols of a node share.
class MemoryRoom {
 public:
  // Whether a fault should call make_room() first.
  virtual bool is_short() const = 0;
  // Gives back copies until there is room. A part of the strand's operation.
  virtual Task<> make_room(Strand& s) = 0;

 protected:
  ~MemoryRoom() = default;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
