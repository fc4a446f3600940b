#pragma once

#include <cstdint>

#include "wire/message.h"

namespace terrane::wire {

// Kinds of ChunkFrame, the header of every message between nodes of chunks.
enum class FrameKind : std::uint8_t {
  kMessage = 1,  // a ChunkMessage with its tail
  kShared,       // a ChunkMessage; its data are in a buffer that both nodes reach, and that the
                 // receiver holds, too, from now on
  kLeaving,      // the sender wants to leave the job together with all nodes
  kParted,       // the sender knows that all nodes want to leave
  kWhoHolds,     // asks which scopes of the chunk are open at the receiver. `bytes` 1: and which
                 // version is the newest, if the receiver is the chunk's server
  kHolder,       // the answer. Tail: words about the scope that has been open longest. `bytes` 1:
                 // threads of the sender wait in the barrier that the chunk is; 2: the words are
                 // the cause of the wait
};

struct ChunkFrame {
  FrameKind kind = FrameKind::kMessage;
  std::uint8_t reserved[3] = {};
  std::uint32_t node = 0;    // kShared: the node in whose memory file the data are
  std::uint32_t buffer = 0;  // kShared: the buffer's number at that node; kWhoHolds, kHolder: the
                             // requester's number
  std::uint32_t reserved_too = 0;
  std::uint64_t offset = 0;  // kShared: of the buffer in the file; kWhoHolds: the chunk
  std::uint64_t bytes = 0;   // kShared: of the buffer; kWhoHolds, kHolder: see there
};
static_assert(sizeof(ChunkFrame) == 32);

}  // namespace terrane::wire
