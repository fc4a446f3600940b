#include "runtime/shmem/free_ranges.h"

#include <gtest/gtest.h>

#include <map>

#include "base/prng.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;

TEST(FreeRangesTest, BlocksDoNotOverlapAndAreAligned) {
  FreeRanges ranges(kBytes);
  auto a = ranges.take(1), b = ranges.take(100), c = ranges.take(8, 4096), d = ranges.take(17);
  ASSERT_TRUE(a && b && c && d);
  EXPECT_EQ(*b % 64, 0u);
  EXPECT_EQ(*c % 4096, 0u);
  EXPECT_TRUE(ranges.inside_block(*a, 1));
  EXPECT_FALSE(ranges.inside_block(*a, 2));
  EXPECT_TRUE(ranges.inside_block(*b + 50, 50));
  EXPECT_FALSE(ranges.inside_block(*b + 50, 51));
  EXPECT_EQ(ranges.size_at(*b), 100u);
  EXPECT_EQ(ranges.size_at(*b + 64), std::nullopt);
}

TEST(FreeRangesTest, FreedBlocksAreJoinedInEveryOrder) {
  const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (auto& order : orders) {
    FreeRanges ranges(kBytes);
    std::uint64_t blocks[3];
    for (auto& block : blocks) block = *ranges.take(1000);
    for (int one : order) ranges.give_back(blocks[one]);
    EXPECT_EQ(ranges.free_ranges(), 1u);
    EXPECT_EQ(ranges.take(kBytes), 0u);
  }
}

TEST(FreeRangesTest, TheSmallestRangeWithRoomIsTaken) {
  FreeRanges ranges(kBytes);
  auto wide = ranges.take(4096), a = ranges.take(64), narrow = ranges.take(1024),
       b = ranges.take(64);
  ASSERT_TRUE(a && b);
  ranges.give_back(*wide);
  ranges.give_back(*narrow);
  EXPECT_EQ(ranges.take(1000), narrow);
  EXPECT_EQ(ranges.take(1000), wide);
}

TEST(FreeRangesTest, WhatDoesNotFitIsRefusedAndChangesNothing) {
  FreeRanges ranges(kBytes);
  for (std::uint64_t huge : {kBytes + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_EQ(ranges.take(huge), std::nullopt);
    EXPECT_EQ(ranges.take(64, std::uint64_t{1} << 63), 0u);  // offset 0 has every alignment
    EXPECT_EQ(ranges.take(64, std::uint64_t{1} << 63), std::nullopt);
    ranges.give_back(0);
  }
  EXPECT_EQ(ranges.take(kBytes), 0u);
}

TEST(FreeRangesTest, ABlockGrowsAndShrinksWhereItLies) {
  FreeRanges ranges(kBytes);
  auto a = ranges.take(1000);
  EXPECT_TRUE(ranges.resize(*a, 5000));
  auto b = ranges.take(64);
  EXPECT_FALSE(ranges.resize(*a, 6000));
  EXPECT_EQ(ranges.size_at(*a), 5000u);
  EXPECT_TRUE(ranges.resize(*a, 10));
  ranges.give_back(*b);
  EXPECT_EQ(ranges.free_ranges(), 1u);
  EXPECT_TRUE(ranges.resize(*a, kBytes));
  EXPECT_EQ(ranges.taken_bytes(), kBytes);
  EXPECT_EQ(ranges.take(1), std::nullopt);
}

TEST(FreeRangesTest, ALargeAlignmentIsFoundBehindManyRangesThatAreTooShortForIt) {
  FreeRanges ranges(kBytes);
  std::uint64_t blocks[128];
  for (auto& block : blocks) block = *ranges.take(64 * 3);
  for (int i = 0; i < 128; i += 2) ranges.give_back(blocks[i]);
  auto aligned = ranges.take(64, 65536);
  ASSERT_TRUE(aligned);
  EXPECT_EQ(*aligned % 65536, 0u);
}

// Against a plain list of what is taken.
TEST(FreeRangesTest, AnyOrderOfCallsKeepsBlocksApartAndLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    base::Prng random(seed);
    FreeRanges ranges(kBytes);
    std::map<std::uint64_t, std::uint64_t> taken;
    for (int step = 0; step < 2000; ++step) {
      if (taken.empty() || random.chance(55)) {
        std::uint64_t bytes = 1 + random.below(random.chance(10) ? 60000 : 300);
        auto at = ranges.take(bytes, std::uint64_t{1} << random.below(13));
        if (!at) continue;
        auto after = taken.lower_bound(*at);
        ASSERT_TRUE(after == taken.end() || *at + bytes <= after->first);
        ASSERT_TRUE(after == taken.begin() ||
                    std::prev(after)->first + std::prev(after)->second <= *at);
        taken[*at] = bytes;
      } else {
        auto one = std::next(taken.begin(), random.below(static_cast<std::uint32_t>(taken.size())));
        std::uint64_t bytes = 1 + random.below(5000);
        if (random.chance(30)) {
          if (ranges.resize(one->first, bytes)) one->second = bytes;
        } else {
          ranges.give_back(one->first);
          taken.erase(one);
        }
      }
    }
    for (auto [at, bytes] : taken) {
      ASSERT_EQ(ranges.size_at(at), bytes);
      ranges.give_back(at);
    }
    EXPECT_EQ(ranges.take(kBytes), 0u);
  }
}

}  // namespace
}  // namespace terrane::runtime::shmem
