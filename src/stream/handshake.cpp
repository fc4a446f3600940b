#include "stream/handshake.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace terrane::stream {
namespace {

constexpr char kMagic[8] = {'T', 'E', 'R', 'R', 'A', 'N', 'E', '\n'};
constexpr std::size_t kNonceAt = 16;
constexpr char kByteOrder = std::endian::native == std::endian::little ? 'l' : 'b';

std::vector<std::byte> greeting(const Nonce& nonce) {
  std::vector<std::byte> bytes(kGreetingBytes);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  bytes[8] = static_cast<std::byte>(kWireVersion & 0xff);
  bytes[9] = static_cast<std::byte>(kWireVersion >> 8);
  bytes[10] = static_cast<std::byte>(kByteOrder);
  std::copy(nonce.begin(), nonce.end(), bytes.begin() + kNonceAt);
  return bytes;
}

}  // namespace

Handshake::Handshake(Side side, const Secret& secret, const Nonce& nonce)
    : side_(side),
      secret_(secret),
      own_(nonce),
      want_(side == Side::kHub ? kAnswerBytes : kGreetingBytes) {}

Handshake Handshake::of_hub(const Secret& secret, const Nonce& nonce) {
  Handshake hub(Side::kHub, secret, nonce);
  hub.out = greeting(nonce);
  return hub;
}

Handshake Handshake::of_host(const Secret& secret, const Nonce& nonce) {
  return {Side::kHost, secret, nonce};
}

Proof Handshake::proof(const char* role) const {
  bool hub = side_ == Side::kHub;
  return secret_.prove(role, {hub ? own_ : other_, hub ? other_ : own_});
}

HandshakeState Handshake::take(std::span<const std::byte> bytes) {
  TERRANE_CHECK(bytes.size() <= wanted(), "a handshake takes what it wants");
  in_.insert(in_.end(), bytes.begin(), bytes.end());
  if (state_ != HandshakeState::kGoingOn || in_.size() < want_) return state_;
  if (side_ == Side::kHub) {
    on_answer();
  } else if (!greeted_) {
    on_greeting();
  } else {
    on_proof();
  }
  in_.clear();
  return state_;
}

bool Handshake::understand_greeting() {
  if (std::memcmp(in_.data(), kMagic, sizeof kMagic) != 0) return false;
  auto version = static_cast<unsigned>(in_[8]) | static_cast<unsigned>(in_[9]) << 8;
  if (version != kWireVersion) {
    complaint_ =
        fmt::format("its Terrane speaks version {} of the launcher's protocol, here it is {}",
                    version, kWireVersion);
    return false;
  }
  if (in_[10] != static_cast<std::byte>(kByteOrder)) {
    complaint_ = "its processor has another byte order than this host's";
    return false;
  }
  std::copy_n(in_.begin() + kNonceAt, other_.size(), other_.begin());
  return true;
}

void Handshake::on_greeting() {
  if (!understand_greeting()) {
    state_ = HandshakeState::kRefused;
    return;
  }
  greeted_ = true;
  want_ = sizeof(Proof);
  out = greeting(own_);
  Proof mine = proof("host");
  out.insert(out.end(), mine.begin(), mine.end());
}

void Handshake::on_answer() {
  bool proven =
      understand_greeting() && same_proof(std::span(in_).subspan(kGreetingBytes), proof("host"));
  state_ = proven ? HandshakeState::kProven : HandshakeState::kRefused;
  if (!proven) return;
  Proof mine = proof("hub");
  out.insert(out.end(), mine.begin(), mine.end());
}

void Handshake::on_proof() {
  state_ = same_proof(in_, proof("hub")) ? HandshakeState::kProven : HandshakeState::kRefused;
}

}  // namespace terrane::stream
