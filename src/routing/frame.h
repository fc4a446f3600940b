#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace terrane::routing {

using Bytes = std::span<const std::byte>;

// The address of a sender or receiver of frames, in the network that the gateways of a job form.
// Nodes have their numbers; the engine of each host, each gateway and the hub have addresses of
// their own.
struct Address {
  std::uint32_t value = 0;

  static constexpr Address of_node(std::uint32_t node) { return {node}; }
  static constexpr Address of_engine(std::uint32_t host) { return {0x4000'0000u | host}; }
  static constexpr Address of_gateway(std::uint32_t gateway) { return {0x8000'0000u | gateway}; }
  static constexpr Address of_hub() { return {0xC000'0000u}; }

  bool is_node() const { return value < 0x4000'0000u; }
  bool is_engine() const { return value >> 30 == 1; }
  bool is_gateway() const { return value >> 30 == 2; }
  bool is_hub() const { return value == of_hub().value; }
  auto operator<=>(const Address&) const = default;
};

enum class FrameKind : std::uint8_t {
  kData = 1,   // a message of the pair (from, to), or a part of one
  kBye = 2,    // the sender has sent everything to this receiver, and may end
  kTaken = 3,  // the receiver (`from`) has taken everything before `position` of pair (to, from)
  kReach = 4,  // to a neighbour: a ReachEntry for each change; `from`: the gateway itself
  kBeat = 5,   // to a neighbour: only shows that the sender is alive
  kLinks = 6,  // from gateway to gateway: the Links of one gateway, and its neighbours' addresses
};

// The header of a frame. A frame is a header, the payload, and zeros up to a multiple of 8 bytes;
// on every connection of the network nothing else is sent. All ends have the same wire version and
// the same byte order.
struct FrameHeader {
  std::uint32_t payload_bytes = 0;
  FrameKind kind{};
  std::uint8_t hops = 0;  // gateways that the frame has passed
  std::uint16_t tag = 0;  // kData: the message's tag, for its receiver
  Address from, to;
  // kData, kBye: bytes of the pair's frames before this one, headers and padding included.
  std::uint64_t position = 0;
  std::uint64_t rest = 0;  // kData: bytes of the message that come in later frames
};
static_assert(sizeof(FrameHeader) == 32);

// A change of what can be reached through the gateway that sends it.
struct ReachEntry {
  Address address;
  std::uint8_t hops = 0;   // gateways on the way, the sender included; kUnreachable: there is no
                           // way
  std::uint8_t again = 0;  // 1: frames under way to it may have been lost, and have to be sent
                           // again
  std::uint16_t unused = 0;
};
static_assert(sizeof(ReachEntry) == 8);

// What the sender knows of the links of `gateway`, which may be itself or another one. The
// addresses of that gateway's neighbours follow, sorted.
struct Links {
  Address gateway;
  std::uint32_t unused = 0;
  std::uint64_t version = 0;  // counted by that gateway
};
static_assert(sizeof(Links) == 16);

inline constexpr std::uint8_t kUnreachable = 16;
inline constexpr std::uint32_t kMaxPayloadBytes = 64 * 1024;
// The most peers that an end accepts; no network of a job has more.
inline constexpr std::size_t kMaxAddresses = 1 << 16;

// Bytes that a frame takes in its stream.
constexpr std::uint64_t frame_bytes(std::uint32_t payload_bytes) {
  return sizeof(FrameHeader) + ((std::uint64_t{payload_bytes} + 7) & ~std::uint64_t{7});
}

// Whether the header by itself is valid; the caller asks before it waits for the payload.
constexpr bool is_frame(const FrameHeader& header) {
  std::uint32_t bytes = header.payload_bytes;
  if (bytes > kMaxPayloadBytes || header.position % 8 != 0 || header.position >> 62 != 0)
    return false;
  switch (header.kind) {
    case FrameKind::kData:
      return header.rest == 0 || bytes > 0;
    case FrameKind::kReach:
      return bytes % sizeof(ReachEntry) == 0;
    case FrameKind::kLinks:
      return bytes >= sizeof(Links) && bytes % sizeof(Address) == 0;
    case FrameKind::kBye:
    case FrameKind::kTaken:
    case FrameKind::kBeat:
      return bytes == 0 && header.rest == 0;
  }
  return false;
}

// Appends the header, header.payload_bytes of payload, and the padding.
inline void append_frame(std::vector<std::byte>& out, const FrameHeader& header, Bytes payload) {
  const auto* head = reinterpret_cast<const std::byte*>(&header);
  out.insert(out.end(), head, head + sizeof header);
  out.insert(out.end(), payload.begin(), payload.end());
  out.resize(out.size() + (-payload.size() & 7));
}

// Rendezvous hashing (Thaler, Ravishankar 1998): of equally short ways the one with the highest
// score for the two addresses is taken, so that several ways share the load.
constexpr std::uint64_t score(Address self, Address other, std::uint32_t way) {
  std::uint64_t z =
      (std::uint64_t{self.value} << 32 | other.value) + (way + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace terrane::routing
