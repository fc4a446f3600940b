#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// What a version of so many bytes takes of credit and capacity, in a stream of versions of at most
// `most` bytes: a short one is not for nothing.
inline std::uint64_t work_cost(std::uint64_t bytes, std::uint64_t most) {
  constexpr std::uint64_t kLeast = 256;
  return std::max(bytes, std::min(most, kLeast));
}

// Numbers in a message's tail.
template <typename Number>
Bytes bytes_of(const std::vector<Number>& numbers) {
  return std::as_bytes(std::span(numbers));
}

// False: the tail is none of numbers.
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
