#pragma once

#include <cstdint>
#include <optional>

#include "protocol/homes/home_words.h"
#include "protocol/serve/at_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// This node, at a home whose memory it reaches: copies to its own blocks or the staging buffer.
class OwnReader : public HomeReader {
 public:
  OwnReader(HomeWords& homes, NodeId home, std::uint64_t first, bool stages)
      : homes_(homes), home_(home), first_(first), stages_(stages) {}

  bool wants_home(std::uint32_t word) const override { return homes_.is_armed_for_us(word); }
  Task<bool> take(Strand& s, std::uint64_t block, std::uint32_t word) override {
    return homes_.take(s, block, home_, word);
  }
  Task<> copy(Strand& s, BlockRange blocks) override {
    std::optional<std::uint64_t> slot;
    if (stages_) slot = blocks.first - first_;
    co_await s.perform(CopyHome{home_, blocks, slot});
  }

 private:
  HomeWords& homes_;
  NodeId home_;
  std::uint64_t first_;
  bool stages_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
