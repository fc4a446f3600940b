#include "runtime/waiting/competitors.h"

#include <gtest/gtest.h>

namespace terrane::runtime::waiting {
namespace {

using enum Competition;

constexpr std::uint64_t kMs = 1'000'000;

TEST(CompetitorsTest, NoneIsKnownBeforeTheProcessorIsLost) {
  Competitors competitors;
  EXPECT_EQ(competitors.at(kMs), kNone);
}

TEST(CompetitorsTest, OneThatTookTheProcessorIsBelievedInForAWhile) {
  Competitors competitors;
  competitors.lost(true, kMs, 10 * kMs);
  EXPECT_EQ(competitors.at(10 * kMs), kShares);
  EXPECT_EQ(competitors.at(109 * kMs), kShares);
  EXPECT_EQ(competitors.at(110 * kMs), kNone);
}

TEST(CompetitorsTest, OneThatComesBackSoonIsBelievedInEverLonger) {
  Competitors competitors;
  std::uint64_t now = 1000 * kMs;
  for (std::uint64_t ms : {100, 200, 400, 800, 1600, 2000, 2000}) {
    competitors.lost(true, kMs, now);
    competitors.lost(true, kMs, now);  // no other one
    now += ms * kMs - 1;
    EXPECT_EQ(competitors.at(now), kShares);
    EXPECT_EQ(competitors.at(++now), kNone);
  }
  now += 2000 * kMs;
  competitors.lost(true, kMs, now);
  EXPECT_EQ(competitors.at(now + 100 * kMs), kNone);
}

TEST(CompetitorsTest, OneThatUsesAYieldAndGivesTheProcessorBackIsBelievedInFurther) {
  Competitors competitors;
  competitors.lost(true, kMs, 0);
  competitors.yielded(kMs, 90 * kMs);
  EXPECT_EQ(competitors.at(189 * kMs), kShares);
  competitors.yielded(300, 189 * kMs);  // nobody used it
  EXPECT_EQ(competitors.at(190 * kMs), kNone);
}

TEST(CompetitorsTest, OneThatKeepsTheProcessorIsYieldedNothingEverLonger) {
  Competitors competitors;
  std::uint64_t now = 0;
  for (std::uint64_t ms : {50, 100, 200, 400, 800, 1000, 1000}) {
    competitors.lost(true, kMs, now);
    EXPECT_EQ(competitors.at(now), kShares);
    now += 4 * kMs;
    competitors.yielded(4 * kMs, now);
    now += ms * kMs - 1;
    competitors.lost(true, kMs, now);
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

TEST(CompetitorsTest, AnotherGuestOfTheMachineThatTakesLittleIsNoCompetitor) {
  Competitors competitors;
  for (std::uint64_t now = 0; now < 10'000 * kMs; now += 100 * kMs)
    competitors.lost(false, kMs / 5, now);
  EXPECT_EQ(competitors.at(10'000 * kMs), kNone);
}

TEST(CompetitorsTest, AMachineThatTakesAFifthOfTheTimeIsShortOfProcessors) {
  Competitors competitors;
  std::uint64_t now = 5000 * kMs;
  for (int gap = 0; gap < 5; ++gap) competitors.lost(false, 4 * kMs, now += 10 * kMs);
  EXPECT_EQ(competitors.at(now), kStolen);
  EXPECT_EQ(competitors.at(now + 1000 * kMs), kNone);
}

}  // namespace
}  // namespace terrane::runtime::waiting
