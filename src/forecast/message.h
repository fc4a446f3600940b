#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forecast/costs.h"
#include "wire/message.h"

namespace terrane::forecast {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kLines = 64;

// The bytes of a page: a value for each of its lines. It represents kPageBytes.
struct Page {
  std::uint32_t lines[kLines] = {};
};

// How a difference is written into a flush message here.
struct Difference {
  std::uint64_t changed = 0;  // lines, a bit each
  Page page;
};

// A message under way.
struct Message {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::size_t size = 0;          // of the real one
  std::vector<std::byte> bytes;  // pages take kPageBytes, of which a Page is used

  wire::Kind kind() const { return static_cast<wire::Kind>(bytes[0]); }
};

// What the real message takes of the network.
std::size_t size_of(const std::vector<std::byte>& bytes);
// What it takes of the handler that receives it.
double cost_of(const Message& message, const Costs& costs);

}  // namespace terrane::forecast
