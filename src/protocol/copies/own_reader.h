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
  OwnReader(HomeWords& homes, NodeId home, std::uint64_t first, bool stages, bool may_take)
      : homes_(homes), home_(home), first_(first), stages_(stages), may_take_(may_take) {}

  bool admits(std::uint64_t, std::uint32_t) const override { return true; }
  bool wants_home(std::uint32_t word) const override {
    return may_take_ && homes_.is_armed_for_us(word);
  }
  Task<bool> take(Strand& s, std::uint64_t block, std::uint32_t word) override {
    return homes_.take(s, block, home_, word);
  }
  Task<> copy(Strand& s, BlockRange blocks) override {
    std::optional<std::uint64_t> slot;
    if (stages_) slot = blocks.first - first_;
    co_await s.perform(CopyHome{home_, blocks, slot});
  }
  Task<> end_take(Strand&) override { co_return; }

 private:
  HomeWords& homes_;
  NodeId home_;
  std::uint64_t first_;
  bool stages_;
  bool may_take_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
