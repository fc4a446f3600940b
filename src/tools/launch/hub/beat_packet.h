#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stream/secret.h"

namespace terrane::tools {

// A sign of life that one host's engine sends to another, over UDP.
struct Beat {
  std::uint32_t from = 0, to = 0;  // indices of hosts
  std::uint64_t number = 0;        // grows with every beat of the pair: an old one counts nothing

  bool operator==(const Beat&) const = default;
};

// Magic (4), from, to (4 each), zeros (4), number (8), then the first 16 bytes of
// HMAC(secret, "beat", the rest).
inline constexpr std::size_t kBeatBytes = 40;

std::array<std::byte, kBeatBytes> encode_beat(const Beat& beat, const stream::Secret& secret);
// nullopt: not a beat, or not of this job.
std::optional<Beat> decode_beat(std::span<const std::byte> packet, const stream::Secret& secret);

}  // namespace terrane::tools
