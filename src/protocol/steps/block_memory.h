#pragma once

#include <atomic>
#include <cstdint>

#include "protocol/steps/block_set.h"
#include "protocol/steps/block_table.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The memory that a node's protocol works in; zeroed, owned by the host.
struct BlockMemory {
  static constexpr int kSets = 10;
  static constexpr int kScCopies = 8;  // the set of sc::Pages

  BlockEntry* entries = nullptr;     // one a block
  BlockSet::Word* sets[kSets] = {};  // BlockSet::words_needed(blocks) each
  // How many frames and twins the host keeps now; nullptr: as if none.
  const std::atomic<std::uint64_t>* used = nullptr;
  const bool* reached = nullptr;  // by node: its memory can be reached; nullptr: everyone's can
};

// What a fault answers: the block is accessible; the address is in no region; memory is short.
enum class FaultResult : std::uint8_t { kDone, kForeign, kNoMemory };

// The memory that pages of all protocols at a node share, and how a fault asks for some of it.
class MemoryRoom {
 public:
  // Whether there is less room than a fault wants to find.
  virtual bool is_short() const = 0;
  // Gives back copies until there is room. A part of the strand's operation.
  virtual Task<> make_room(Strand& s) = 0;

 protected:
  ~MemoryRoom() = default;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
