#pragma once

#include <cstdint>

#include "wire/message.h"

namespace terrane::wire {

// What goes before everything that nodes of chunks send each other.
enum class FrameKind : std::uint8_t {
  kMessage = 1,  // a ChunkMessage with its tail
  kShared,       // a ChunkMessage; its data lie in memory that both nodes reach, and are the
                 // receiver's too from now on
  kLeaving,      // the sender wants to leave the job in order
  kParted,       // it knows that all want to
  kWhoHolds,     // which scopes of this chunk are open at your place? bytes 1: and what version
                 // is the newest, if you are its server?
  kHolder,       // back: the one that is open longest. Tail: its words. bytes 1: threads there
                 // wait in the barrier that the chunk is; 2: the words are the cause
};

struct ChunkFrame {
  FrameKind kind = FrameKind::kMessage;
  std::uint8_t reserved[3] = {};
  std::uint32_t node = 0;    // kShared: in whose memory
  std::uint32_t buffer = 0;  // kShared: its number there; kWhoHolds, kHolder: the asker's number
  std::uint32_t reserved_too = 0;
  std::uint64_t offset = 0;  // kShared; kWhoHolds: the chunk
  std::uint64_t bytes = 0;   // kShared
};
static_assert(sizeof(ChunkFrame) == 32);

}  // namespace terrane::wire
