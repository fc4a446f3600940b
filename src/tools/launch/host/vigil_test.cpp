#include "tools/launch/host/vigil.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

using Peers = std::vector<std::uint32_t>;

// Looks every period from one time to another; those that were silent at the end.
Peers look_until(Vigil& vigil, std::uint64_t from, std::uint64_t to) {
  Peers silent;
  for (std::uint64_t now = from; now <= to && silent.empty(); now += vigil.period_ms()) {
    silent = vigil.look(now);
  }
  return silent;
}

TEST(VigilTest, SilenceForTheLimitIsDeath) {
  Vigil vigil(2, 1000);
  vigil.expect(0, 5000);
  vigil.expect(1, 5000);
  EXPECT_EQ(look_until(vigil, 5000, 5800), Peers{});
  vigil.heard(0, 5800);
  EXPECT_EQ(look_until(vigil, 6000, 6000), Peers{1});
}

TEST(VigilTest, WhoIsNotExpectedIsNotJudgedUntilItSpeaks) {
  Vigil vigil(1, 1000);
  EXPECT_EQ(look_until(vigil, 1000, 9000), Peers{});
  vigil.heard(0, 9000);
  EXPECT_EQ(look_until(vigil, 9000, 9900), Peers{});
  EXPECT_EQ(look_until(vigil, 10'000, 10'000), Peers{0});
}

TEST(VigilTest, WhoHasLeftInOrderIsNotBlamed) {
  Vigil vigil(1, 1000);
  vigil.expect(0, 1000);
  vigil.dismiss(0);
  EXPECT_EQ(look_until(vigil, 1000, 9000), Peers{});
}

TEST(VigilTest, AJudgeThatSleptBlamesNobodyForThatTime) {
  Vigil vigil(1, 1000);
  vigil.expect(0, 1000);
  EXPECT_EQ(look_until(vigil, 1000, 1400), Peers{});
  EXPECT_EQ(vigil.look(3'600'000), Peers{});
  EXPECT_EQ(vigil.look(3'600'100), Peers{});
  vigil.heard(0, 3'600'150);
  EXPECT_EQ(look_until(vigil, 3'600'200, 3'601'000), Peers{});
  EXPECT_EQ(look_until(vigil, 3'601'200, 3'601'200), Peers{0});
}

TEST(VigilTest, APeerWhoseKernelAnswersIsLateAndNotDead) {
  Vigil vigil(1, 1000, 10'000);
  vigil.expect(0, 5000);
  for (std::uint64_t now = 5000; now < 14'800; now += 200) {
    vigil.answered(0, now);
    EXPECT_EQ(vigil.look(now), Peers{}) << now;
    EXPECT_EQ(vigil.is_late(0), now >= 5400) << now;
  }
  vigil.answered(0, 15'000);
  EXPECT_EQ(look_until(vigil, 14'800, 15'000), Peers{0});
  EXPECT_TRUE(vigil.answers(0));
  EXPECT_EQ(vigil.silence_ms(0), 10'000u);
}

TEST(VigilTest, ALatePeerWhoseKernelFallsSilentIsDeadAfterTheLimit) {
  Vigil vigil(1, 1000, 10'000);
  vigil.expect(0, 5000);
  EXPECT_EQ(look_until(vigil, 5000, 5800), Peers{});
  vigil.answered(0, 5900);
  EXPECT_EQ(look_until(vigil, 6000, 6800), Peers{});
  EXPECT_EQ(look_until(vigil, 7000, 7000), Peers{0});
  EXPECT_FALSE(vigil.answers(0));
  EXPECT_EQ(vigil.silence_ms(0), 1000u);
}

TEST(VigilTest, ALatePeerThatSpeaksAgainIsInTime) {
  Vigil vigil(1, 1000, 10'000);
  vigil.expect(0, 5000);
  vigil.answered(0, 5900);
  EXPECT_EQ(look_until(vigil, 5000, 6400), Peers{});
  EXPECT_TRUE(vigil.is_late(0));
  vigil.heard(0, 6500);
  EXPECT_EQ(look_until(vigil, 6600, 7400), Peers{});
  EXPECT_EQ(look_until(vigil, 7600, 7600), Peers{0});
}

TEST(VigilTest, ALimitOfLatePeersBelowTheOtherOneIsNone) {
  Vigil vigil(1, 1000, 300);
  vigil.expect(0, 5000);
  vigil.answered(0, 5900);
  EXPECT_EQ(look_until(vigil, 5000, 5800), Peers{});
}

TEST(VigilTest, TheSmallestLimitHasAPeriod) { EXPECT_EQ(Vigil(1, 3).period_ms(), 1u); }

}  // namespace
}  // namespace terrane::tools
