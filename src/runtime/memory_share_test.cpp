#include "runtime/memory_share.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kNone = ~0ull;

std::vector<std::uint64_t> limits(std::span<const MemoryCard> cards,
                                  std::span<const std::uint32_t> hosts) {
  std::vector<std::uint64_t> limits;
  for (const MemoryShare& share : memory_shares(cards, hosts)) limits.push_back(share.limit_bytes);
  return limits;
}

TEST(MemoryShareTest, WhatWasAskedForIsTaken) {
  const MemoryCard cards[] = {{8 * kMiB, 800 * kMiB, kNone, 0}, {kNone, 800 * kMiB, kNone, 0}};
  const std::uint32_t hosts[] = {0, 1};
  EXPECT_EQ(limits(cards, hosts), (std::vector<std::uint64_t>{8 * kMiB, 700 * kMiB}));
}

TEST(MemoryShareTest, NodesOfAHostShareItsMemory) {
  const MemoryCard card{kNone, 800 * kMiB, kNone, 0};
  const MemoryCard cards[] = {card, card, card};
  const std::uint32_t hosts[] = {0, 0, 1};
  EXPECT_EQ(limits(cards, hosts), (std::vector<std::uint64_t>{350 * kMiB, 350 * kMiB, 700 * kMiB}));
}

TEST(MemoryShareTest, NodesOfAControlGroupShareItsLimit) {
  const MemoryCard together{kNone, 8000 * kMiB, 160 * kMiB, 7};
  const MemoryCard apart{kNone, 8000 * kMiB, 80 * kMiB, 8};
  const MemoryCard cards[] = {together, together, apart, together};
  const std::uint32_t hosts[] = {0, 0, 0, 1};  // the last one's group has that number by chance
  EXPECT_EQ(limits(cards, hosts),
            (std::vector<std::uint64_t>{70 * kMiB, 70 * kMiB, 70 * kMiB, 140 * kMiB}));
}

TEST(MemoryShareTest, HomesMayTakeWhatTheOthersLeave) {
  const MemoryCard alike{kNone, 800 * kMiB, kNone, 0};
  const MemoryCard grouped{kNone, 800 * kMiB, 80 * kMiB, 1};
  const MemoryCard asked{8 * kMiB, 800 * kMiB, kNone, 0};
  const MemoryCard cards[] = {alike, alike, grouped, asked};
  const std::uint32_t hosts[] = {0, 0, 0, 0};
  auto shares = memory_shares(cards, hosts);
  EXPECT_EQ(shares[0].home_bytes, 700 * kMiB);
  EXPECT_EQ(shares[2].home_bytes, 70 * kMiB);
  EXPECT_EQ(shares[3].home_bytes, 8 * kMiB);
}

TEST(MemoryShareTest, WhereNothingIsLeftALittleIsTried) {
  const MemoryCard cards[] = {{kNone, 1000, kNone, 0}};
  const std::uint32_t hosts[] = {0};
  EXPECT_EQ(limits(cards, hosts), (std::vector<std::uint64_t>{kMiB}));
}

TEST(MemoryShareTest, WhatCannotBeToldIsNoLimit) {
  const MemoryCard cards[] = {{kNone, kNone, kNone, 0}};
  const std::uint32_t hosts[] = {0};
  EXPECT_EQ(limits(cards, hosts), (std::vector<std::uint64_t>{kNone}));
}

TEST(MemoryShareTest, ANodeKeepsLessWhereItsHostHasLess) {
  const MemoryShare at_start{320 * kMiB, 480 * kMiB};
  auto now = [&](std::uint64_t kept_mib, std::int64_t headroom_mib) {
    MemoryShare share =
        share_now(at_start, kept_mib * kMiB, headroom_mib * static_cast<std::int64_t>(kMiB));
    return std::pair(share.limit_bytes / kMiB, share.home_bytes / kMiB);
  };
  EXPECT_EQ(now(0, 1000), (std::pair<std::uint64_t, std::uint64_t>(320, 480)));
  EXPECT_EQ(now(100, 300), (std::pair<std::uint64_t, std::uint64_t>(320, 400)));
  EXPECT_EQ(now(100, 50), (std::pair<std::uint64_t, std::uint64_t>(150, 150)));
  EXPECT_EQ(now(100, -30), (std::pair<std::uint64_t, std::uint64_t>(70, 70)));
  EXPECT_EQ(now(100, -300), (std::pair<std::uint64_t, std::uint64_t>(20, 20)));
  EXPECT_EQ(share_now({}, 100 * kMiB, -1).limit_bytes, kNone);
}

}  // namespace
}  // namespace terrane::runtime
