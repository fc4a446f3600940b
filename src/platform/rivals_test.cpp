#include "platform/rivals.h"

#include <gtest/gtest.h>

namespace terrane::platform {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(RivalsTest, WhoHasLostNothingOffersNothing) {
  Rivals rivals;
  EXPECT_FALSE(rivals.offers(kMs));
  EXPECT_FALSE(rivals.keeps(kMs));
}

TEST(RivalsTest, WhoLostTheProcessorOffersItForAWhile) {
  Rivals rivals;
  rivals.lost(10 * kMs);
  EXPECT_TRUE(rivals.offers(10 * kMs));
  EXPECT_TRUE(rivals.offers(60 * kMs));
  EXPECT_FALSE(rivals.offers(110 * kMs));
  EXPECT_FALSE(rivals.keeps(11 * kMs));
}

TEST(RivalsTest, ARivalThatGivesBackIsOfferedMore) {
  Rivals rivals;
  rivals.lost(0);
  rivals.offered(kMs, 90 * kMs);
  EXPECT_TRUE(rivals.offers(180 * kMs));
  rivals.offered(300, 180 * kMs);  // nobody took it
  EXPECT_FALSE(rivals.offers(190 * kMs));
}

TEST(RivalsTest, WhereNobodyTakesItNothingIsOfferedUntilItIsLostAgain) {
  Rivals rivals;
  rivals.lost(0);
  rivals.refused();
  EXPECT_FALSE(rivals.offers(kMs));
  EXPECT_FALSE(rivals.keeps(kMs));
  rivals.lost(2 * kMs);
  EXPECT_TRUE(rivals.offers(3 * kMs));
}

TEST(RivalsTest, ARivalThatKeepsTheProcessorIsOfferedNothingEverLonger) {
  Rivals rivals;
  std::uint64_t now = 0;
  std::uint64_t banned_ms = 0;
  for (std::uint64_t ms : {50, 100, 200, 400, 800, 1000, 1000}) {
    rivals.lost(now);
    EXPECT_TRUE(rivals.offers(now));
    now += 4 * kMs;
    rivals.offered(4 * kMs, now);
    EXPECT_FALSE(rivals.offers(now));
    now += ms * kMs - 1;
    rivals.lost(now);
    EXPECT_FALSE(rivals.offers(now));
    EXPECT_TRUE(rivals.keeps(now));
    ++now;
    EXPECT_FALSE(rivals.keeps(now));
    banned_ms += ms;
  }
  EXPECT_EQ(now, (banned_ms + 7 * 4) * kMs);
}

TEST(RivalsTest, ARivalThatGivesBackAgainIsTrustedAsBefore) {
  Rivals rivals;
  rivals.offered(4 * kMs, 0);
  rivals.offered(4 * kMs, 50 * kMs);
  rivals.lost(150 * kMs);
  rivals.offered(kMs, 151 * kMs);
  rivals.offered(4 * kMs, 160 * kMs);
  EXPECT_TRUE(rivals.keeps(209 * kMs));
  EXPECT_FALSE(rivals.keeps(210 * kMs));
}

}  // namespace
}  // namespace terrane::platform
