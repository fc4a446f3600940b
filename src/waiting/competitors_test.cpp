#include "waiting/competitors.h"

#include <gtest/gtest.h>

namespace terrane::waiting {
namespace {

using enum Competition;

constexpr std::uint64_t kMs = 1'000'000;

TEST(CompetitorsTest, NoneIsKnownBeforeTheProcessorIsLost) {
  Competitors competitors;
  EXPECT_EQ(competitors.at(kMs), kNone);
}

TEST(CompetitorsTest, OneThatTookTheProcessorIsBelievedInForAWhile) {
  Competitors competitors;
  competitors.lost(10 * kMs);
  EXPECT_EQ(competitors.at(10 * kMs), kShares);
  EXPECT_EQ(competitors.at(109 * kMs), kShares);
  EXPECT_EQ(competitors.at(110 * kMs), kNone);
}

TEST(CompetitorsTest, OneThatUsesAYieldAndGivesTheProcessorBackIsBelievedInFurther) {
  Competitors competitors;
  competitors.lost(0);
  competitors.yielded(kMs, 90 * kMs);
  EXPECT_EQ(competitors.at(180 * kMs), kShares);
  competitors.yielded(300, 180 * kMs);  // nobody used it
  EXPECT_EQ(competitors.at(190 * kMs), kNone);
}

TEST(CompetitorsTest, WhereNobodyUsesYieldsThereIsNoneUntilTheProcessorIsLostAgain) {
  Competitors competitors;
  competitors.lost(0);
  competitors.refused();
  EXPECT_EQ(competitors.at(kMs), kNone);
  competitors.lost(2 * kMs);
  EXPECT_EQ(competitors.at(3 * kMs), kShares);
}

TEST(CompetitorsTest, OneThatKeepsTheProcessorIsYieldedNothingEverLonger) {
  Competitors competitors;
  std::uint64_t now = 0;
  for (std::uint64_t ms : {50, 100, 200, 400, 800, 1000, 1000}) {
    competitors.lost(now);
    EXPECT_EQ(competitors.at(now), kShares);
    now += 4 * kMs;
    competitors.yielded(4 * kMs, now);
    now += ms * kMs - 1;
    competitors.lost(now);
    EXPECT_EQ(competitors.at(now), kKeeps);
    EXPECT_EQ(competitors.at(++now), kNone);
  }
}

TEST(CompetitorsTest, OneThatGivesTheProcessorBackAgainIsTrustedAsBefore) {
  Competitors competitors;
  competitors.yielded(4 * kMs, 0);
  competitors.yielded(4 * kMs, 50 * kMs);
  competitors.yielded(kMs, 151 * kMs);
  competitors.yielded(4 * kMs, 160 * kMs);
  EXPECT_EQ(competitors.at(209 * kMs), kKeeps);
  EXPECT_EQ(competitors.at(210 * kMs), kNone);
}

}  // namespace
}  // namespace terrane::waiting
