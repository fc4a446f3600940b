#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/secret.h"

namespace terrane::stream {

// Of everything that the launcher's processes on different hosts say to each other.
inline constexpr std::uint16_t kWireVersion = 1;

using Nonce = std::array<std::byte, 16>;

// How the hub and a host's engine prove to each other, over a fresh connection and before anything
// else is read, that both know the job's secret:
//   hub:  greeting  magic (8), wire version (2), byte order (1), zeros (5), nonce (16)
//   host: answer    the same with its own nonce, then HMAC(secret, "host", both nonces) (32)
//   hub:  HMAC(secret, "hub", both nonces) (32)
// Fresh nonces on both sides make a recorded proof worthless; the two roles keep one side's proof
// from being sent back. A stranger learns a nonce and nothing else.
inline constexpr std::size_t kGreetingBytes = 32;
inline constexpr std::size_t kAnswerBytes = kGreetingBytes + 32;

enum class HandshakeState { kGoingOn, kProven, kRefused };

// Either side: takes the other's bytes as they come, never more than wanted(), and says in `out`
// what is to be sent. Knows no socket.
class Handshake {
 public:
  // The hub's side; its greeting is in `out` at once.
  static Handshake of_hub(const Secret& secret, const Nonce& nonce);
  static Handshake of_host(const Secret& secret, const Nonce& nonce);

  // How many bytes may still be given.
  std::size_t wanted() const { return state_ == HandshakeState::kGoingOn ? want_ - in_.size() : 0; }
  // At most wanted() bytes.
  HandshakeState take(std::span<const std::byte> bytes);
  HandshakeState state() const { return state_; }
  // What is wrong, for a person; where the other side is a Terrane of another build.
  const std::string& complaint() const { return complaint_; }

  // To be sent, in order; the sender takes it out.
  std::vector<std::byte> out;

 private:
  enum class Side { kHub, kHost };
  Handshake(Side side, const Secret& secret, const Nonce& nonce);

  void on_greeting();
  void on_answer();
  void on_proof();
  bool understand_greeting();
  Proof proof(const char* role) const;

  Side side_;
  Secret secret_;
  Nonce own_, other_{};
  std::vector<std::byte> in_;
  std::size_t want_;
  bool greeted_ = false;
  HandshakeState state_ = HandshakeState::kGoingOn;
  std::string complaint_;
};

}  // namespace terrane::stream
