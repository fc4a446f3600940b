#include "tools/launch/hub/beat_packet.h"

#include <cstring>

namespace terrane::tools {
namespace {

constexpr std::uint32_t kMagic = 0x54425254;  // "TRBT"
constexpr std::size_t kSignedBytes = 24;
constexpr std::size_t kProofBytes = 16;
static_assert(kSignedBytes + kProofBytes == kBeatBytes);

}  // namespace

std::array<std::byte, kBeatBytes> encode_beat(const Beat& beat, const stream::Secret& secret) {
  std::array<std::byte, kBeatBytes> packet{};
  std::memcpy(packet.data(), &kMagic, 4);
  std::memcpy(packet.data() + 4, &beat.from, 4);
  std::memcpy(packet.data() + 8, &beat.to, 4);
  std::memcpy(packet.data() + 16, &beat.number, 8);
  stream::Proof proof =
      secret.prove("beat", {std::span<const std::byte>(packet).first(kSignedBytes)});
  std::memcpy(packet.data() + kSignedBytes, proof.data(), kProofBytes);
  return packet;
}

std::optional<Beat> decode_beat(std::span<const std::byte> packet, const stream::Secret& secret) {
  std::uint32_t magic = 0;
  if (packet.size() != kBeatBytes) return std::nullopt;
  std::memcpy(&magic, packet.data(), 4);
  if (magic != kMagic) return std::nullopt;
  stream::Proof proof = secret.prove("beat", {packet.first(kSignedBytes)});
  bool genuine =
      stream::same_proof(packet.subspan(kSignedBytes), std::span(proof).first(kProofBytes));
  if (!genuine) return std::nullopt;
  Beat beat;
  std::memcpy(&beat.from, packet.data() + 4, 4);
  std::memcpy(&beat.to, packet.data() + 8, 4);
  std::memcpy(&beat.number, packet.data() + 16, 8);
  return beat;
}

}  // namespace terrane::tools
