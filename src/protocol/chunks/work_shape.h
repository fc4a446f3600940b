#pragma once

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// What the creator of a work stream has chosen, in messages about its name.
inline void put_shape(ChunkMessage& message, const WorkShape& shape) {
  message.version = shape.capacity;
  message.mode = shape.in_order ? 1 : 0;
  message.turn = shape.home;
}
inline WorkShape shape_of(const ChunkMessage& message) {
  return {.capacity = message.version, .in_order = message.mode != 0, .home = message.turn};
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
