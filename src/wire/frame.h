#pragma once

#include <cstdint>

namespace terrane::wire {

// How a message is sent in a ring, where frames have a bounded size: as one frame, or in pieces
// that follow each other.
enum class FrameKind : std::uint32_t {
  kNone = 0,   // no frame is here yet
  kWhole = 1,  // the payload is a message
  kFirst = 2,  // the payload is the message's size (8 bytes) and its first bytes
  kMore = 3,   // further bytes of the message that kFirst began
  kSkip = 4,   // no payload: the next frame is at the start of the ring
};

enum class NetworkFrameKind : std::uint32_t {
  kMessage = 1,
  kHello = 2,          // no message: the connection is open, and may be used in both directions
  kFarewell = 3,       // no message: the sender has sent everything, and asks for an answer
  kFarewellHeard = 4,  // no message: everything sent before the farewell has arrived
  kCall = 5            // a one-sided call, or the answer to one; calls have an order of their own
};

// Precedes the payload of every frame.
struct FrameHeader {
  std::uint32_t payload_bytes;
  FrameKind kind;
  std::uint64_t sequence;  // frames of this (sender, receiver) pair, counted from 0
};
static_assert(sizeof(FrameHeader) == 16);

// The first word of the header. A ring publishes a frame by one store of this word, which is never
// 0.
constexpr std::uint64_t frame_control(FrameKind kind, std::uint32_t payload_bytes) {
  return static_cast<std::uint64_t>(kind) << 32 | payload_bytes;
}
constexpr FrameKind frame_kind(std::uint64_t control) {
  return static_cast<FrameKind>(control >> 32);
}
constexpr std::uint32_t frame_payload_bytes(std::uint64_t control) {
  return static_cast<std::uint32_t>(control);
}

// Accompanies every message on a network that delivers whole messages of any size, but neither in
// order nor with the name of their sender.
struct NetworkFrame {
  std::uint64_t token;     // the receiver's; only its peers know it
  std::uint64_t sequence;  // messages of this (sender, receiver) pair, counted from 0
  std::uint64_t bytes;     // of the message
  std::uint32_t from;
  NetworkFrameKind kind;
};
static_assert(sizeof(NetworkFrame) == 32);

}  // namespace terrane::wire
