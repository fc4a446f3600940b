#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace terrane::bootstrap {

// The nodes that came to a job and that went since all had joined, in the order in which all nodes
// heard of it.
struct Change {
  enum class Kind : std::uint8_t { kCame = 1, kWent = 2 };
  Kind kind;
  NodeId node;

  bool operator==(const Change&) const = default;
};
using History = std::vector<Change>;

// Both ends are of the same build's wire version, on machines of the same byte order.
std::vector<std::byte> encode_history(const History& history);
// nullopt: no history, or one with a node beyond `nodes`.
std::optional<History> decode_history(std::span<const std::byte> bytes, std::uint32_t nodes);

}  // namespace terrane::bootstrap
