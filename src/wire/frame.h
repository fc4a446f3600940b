#pragma once

#include <cstdint>

namespace terrane::wire {

// How a message travels where frames have a bounded size: whole, or in pieces that follow one
// another.
enum class FrameKind : std::uint32_t {
  kNone = 0,   // no frame is here yet
  kWhole = 1,  // the payload is a message
  kFirst = 2,  // the payload is the message's size (8 bytes) and its first bytes
  kMore = 3,   // further bytes of the message that kFirst began
  kSkip = 4,   // no payload: the next frame is at the start of the ring
};

// Stands before every frame's payload.
struct FrameHeader {
  std::uint32_t payload_bytes;
  FrameKind kind;
  std::uint64_t sequence;  // frames of this (sender, receiver) pair, counted from 0
};
static_assert(sizeof(FrameHeader) == 16);

// The header's first word, which a ring publishes in one store: never 0 for a frame that is there.
constexpr std::uint64_t frame_control(FrameKind kind, std::uint32_t payload_bytes) {
  return static_cast<std::uint64_t>(kind) << 32 | payload_bytes;
}
constexpr FrameKind frame_kind(std::uint64_t control) {
  return static_cast<FrameKind>(control >> 32);
}
constexpr std::uint32_t frame_payload_bytes(std::uint64_t control) {
  return static_cast<std::uint32_t>(control);
}

}  // namespace terrane::wire
