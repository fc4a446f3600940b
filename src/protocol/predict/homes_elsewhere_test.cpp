#include "protocol/predict/homes_elsewhere.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "protocol/predict/adaptive.h"

namespace terrane::protocol {
namespace {

constexpr std::uint64_t kBlocks = 4096;
constexpr HomePressure kPressure{.homes = 1024, .most = 768, .limit = 1024};

class HomesElsewhereTest : public testing::Test {
 protected:
  HomesElsewhereTest() { (void)kept(); }

  std::uint64_t kept() { return predictor_.at_full_node().homes_kept(kPressure); }
  MissPlan miss(std::uint64_t block) {
    return predictor_.at_miss({.block = block,
                               .access = Access::kRead,
                               .reached = true,
                               .adaptive = true,
                               .movable = true,
                               .prefetches = true});
  }

  std::vector<BlockHistory> history_ = std::vector<BlockHistory>(kBlocks);
  AdaptivePredictor predictor_{history_.data(), kBlocks, Tunables{}, Heuristics{}};
};

TEST_F(HomesElsewhereTest, CopiesThatComeBackAtOnceTakeTheMemoryOfHomes) {
  EXPECT_EQ(kept(), kPressure.most);
  for (int round = 0; round < 10; ++round) {
    for (std::uint64_t b = 0; b < 300; b += 3) predictor_.at_full_node().evicted(b);
    for (std::uint64_t b = 0; b < 300; b += 3) miss(b);
  }
  EXPECT_EQ(kept(), kPressure.limit / 8) << "a part stays for homes";
}

TEST_F(HomesElsewhereTest, HomesThatAreMissedTakeItBack) {
  for (std::uint64_t b = 0; b < 300; b += 3) predictor_.at_full_node().evicted(b);
  for (std::uint64_t b = 0; b < 300; b += 3) miss(b);
  EXPECT_EQ(kept(), kPressure.most - 200);
  for (std::uint64_t b = 1000; b < 1100; ++b) predictor_.home_gone(b);
  EXPECT_EQ(kept(), kPressure.most - 100);
  for (std::uint64_t b = 1100; b < 1400; ++b) predictor_.home_gone(b);
  EXPECT_EQ(kept(), kPressure.most);
}

// More copies were evicted since than would have fitted with twins.
TEST_F(HomesElsewhereTest, CopiesThatComeBackLateChangeNothing) {
  for (std::uint64_t b = 0; b < 1000; ++b) predictor_.at_full_node().evicted(b);
  for (std::uint64_t b = 0; b < 300; b += 3) miss(b);
  EXPECT_EQ(kept(), kPressure.most);
}

TEST_F(HomesElsewhereTest, CopiesThatNoEvictionDroppedChangeNothing) {
  for (std::uint64_t b = 0; b < 300; b += 3) miss(b);
  for (std::uint64_t b = 0; b < 300; b += 3) miss(b);
  EXPECT_EQ(kept(), kPressure.most);
}

TEST_F(HomesElsewhereTest, AnEvictedCopyDoesNotComeWithItsNeighbour) {
  for (std::uint64_t b = 8; b < 12; ++b) predictor_.prefetches(b);
  EXPECT_EQ(miss(7).blocks, 5u);
  for (std::uint64_t b = 7; b < 12; ++b) predictor_.at_full_node().evicted(b);
  predictor_.miss_ended(100, 101);
  EXPECT_EQ(miss(7).blocks, 1u);
}

}  // namespace
}  // namespace terrane::protocol
