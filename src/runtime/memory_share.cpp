#include "runtime/memory_share.h"

#include <algorithm>

#include "platform/cgroup_memory.h"
#include "platform/memory_left.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

// The rest is for tables, messages, and what a home may keep beyond its limit.
std::uint64_t part_of(std::uint64_t bytes, std::uint64_t nodes) {
  return bytes == ~0ull ? bytes : std::max((bytes - bytes / 8) / nodes, kLeastBytes);
}

}  // namespace

MemoryCard memory_card(const Options& options) {
  platform::CgroupMemory group = platform::tightest_cgroup();
  return {options.memory_bytes, platform::memory_left_bytes(), group.left_bytes, group.id};
}

std::vector<MemoryShare> memory_shares(std::span<const MemoryCard> cards,
                                       std::span<const std::uint32_t> hosts) {
  std::vector<MemoryShare> shares;
  for (std::size_t n = 0; n < cards.size(); ++n) {
    std::uint64_t on_host = 0, in_group = 0;
    for (std::size_t other = 0; other < cards.size(); ++other) {
      bool near = hosts[other] == hosts[n];
      on_host += near;
      in_group += near && cards[other].group == cards[n].group;
    }
    const MemoryCard& card = cards[n];
    if (card.asked_bytes != ~0ull) {
      shares.push_back({card.asked_bytes, card.asked_bytes});
      continue;
    }
    std::uint64_t limit = std::min(part_of(card.machine_bytes, on_host),  //
                                   part_of(card.group_bytes, in_group));
    shares.push_back(
        {limit, std::min(part_of(card.machine_bytes, 1), part_of(card.group_bytes, 1))});
  }
  return shares;
}

MemoryShare share_now(const MemoryShare& at_start, std::uint64_t kept_bytes,
                      std::int64_t headroom_bytes) {
  if (at_start.limit_bytes == ~0ull) return at_start;
  std::uint64_t may = kept_bytes;
  if (headroom_bytes < 0) {
    may -= std::min(may, static_cast<std::uint64_t>(-headroom_bytes));
  } else {
    may += static_cast<std::uint64_t>(headroom_bytes);
  }
  std::uint64_t least = std::max(at_start.limit_bytes / 16, kLeastBytes);
  MemoryShare now;
  now.limit_bytes = std::min(at_start.limit_bytes, std::max(may, least));
  now.home_bytes = std::min(at_start.home_bytes, std::max(may, least));
  return now;
}

}  // namespace terrane::runtime
