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

enum class NetworkFrameKind : std::uint32_t {
  kMessage = 1,
  kHello = 2,         // no message: the connection is there, and may be used both ways
  kFarewell = 3,      // no message: all has been sent, and an answer is asked for
  kFarewellHeard = 4  // no message: all that came before the farewell has arrived
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

// Stands beside every message on a network that delivers whole messages of any size, but keeps
// neither their order nor the name of their sender.
struct NetworkFrame {
  std::uint64_t token;     // the receiver's, which its peers alone know
  std::uint64_t sequence;  // messages of this (sender, receiver) pair, counted from 0
  std::uint64_t bytes;     // of the message
  std::uint32_t from;
  NetworkFrameKind kind;
};
static_assert(sizeof(NetworkFrame) == 32);

}  // namespace terrane::wire
