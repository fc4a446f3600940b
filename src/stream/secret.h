#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace terrane::stream {

using Proof = std::array<std::byte, 32>;

// The secret of one job, 128 random bits that only its own processes know.
class Secret {
 public:
  static base::Result<Secret> random();
  // From what hex() gave.
  static std::optional<Secret> parse(std::string_view hex);

  std::string hex() const;
  // Another secret, made of this one for one purpose: it does not tell this one.
  Secret derive(std::string_view purpose) const;
  // HMAC-SHA-256 (RFC 2104) of `role` and the parts, in this order. `role` keeps proofs for
  // different purposes apart.
  Proof prove(std::string_view role, std::initializer_list<std::span<const std::byte>> parts) const;

 private:
  std::array<std::byte, 16> bytes_{};
};

// Takes the same time wherever they differ.
bool same_proof(std::span<const std::byte> a, std::span<const std::byte> b);

// `bytes` from the operating system's source of randomness.
base::Result<> fill_random(std::span<std::byte> bytes);

}  // namespace terrane::stream
