#pragma once

#include <algorithm>
#include <string_view>

#include "protocol/chunks/chunk_effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

inline constexpr std::uint32_t kSlotShift = 52;  // position of the slot in a chunk's number
inline constexpr std::uint32_t kNoSlot = ~0u;

std::uint32_t slot_of(std::string_view name, const View& view);
constexpr std::uint32_t slot_of(ChunkId chunk) {
  return static_cast<std::uint32_t>(chunk.value >> kSlotShift);
}
// Whether such messages name a slot in place of a chunk.
constexpr bool names_slot(wire::ChunkKind kind) {
  using enum wire::ChunkKind;
  return kind == kFind || kind == kReportEnd || kind == kServing || kind == kLeave ||
         kind == kLeft || kind == kNamed;
}
// The slot that the message is about; kNoSlot: not one that a view may have.
constexpr std::uint32_t slot_of(const wire::ChunkMessage& message) {
  if (!names_slot(message.kind)) return slot_of(ChunkId{message.chunk});
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(message.chunk, kNoSlot));
}
// kNoNode if there is no such slot.
NodeId home_of(ChunkId chunk, const View& view);

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
