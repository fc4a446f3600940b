#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Bytes of credit and capacity that a version of `bytes` bytes takes, in a stream of versions of at
// most `most` bytes. A short version has a minimum cost.
inline std::uint64_t work_cost(std::uint64_t bytes, std::uint64_t most) {
  constexpr std::uint64_t kLeast = 256;
  return std::max(bytes, std::min(most, kLeast));
}

// Numbers as the tail of a message.
template <typename Number>
Bytes bytes_of(const std::vector<Number>& numbers) {
  return std::as_bytes(std::span(numbers));
}

// False: the length of the tail fits no sequence of such numbers.
template <typename Number>
bool numbers_of(Bytes tail, std::vector<Number>& numbers) {
  if (tail.size() % sizeof(Number) != 0) return false;
  numbers.resize(tail.size() / sizeof(Number));
  if (!tail.empty()) std::memcpy(numbers.data(), tail.data(), tail.size());
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
