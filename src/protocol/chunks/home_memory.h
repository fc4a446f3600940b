#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Counts the memory of a server against its limit: of the chunks and work streams whose home is on
// this node, and of the versions that it keeps as a relay.
class HomeMemory {
 public:
  explicit HomeMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  bool has(std::uint64_t bytes) const { return bytes <= most_bytes_ - used_bytes_; }
  // False: there is not enough.
  bool reserve(std::uint64_t bytes) {
    if (!has(bytes)) return false;
    used_bytes_ += bytes;
    return true;
  }
  // Counts what cannot be refused.
  void count(std::uint64_t bytes) { used_bytes_ = std::min(most_bytes_, used_bytes_ + bytes); }
  void give_back(std::uint64_t bytes) { used_bytes_ -= std::min(used_bytes_, bytes); }

 private:
  std::uint64_t most_bytes_;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
