#include "runtime/thread_context.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kUs = 1'000;
constexpr std::uint64_t kBlock = 7, kOther = 9, kThird = 11;

TEST(LatestPagesTest, KeepTheLatestTwoForAMoment) {
  LatestPages pages;
  EXPECT_FALSE(pages.holds());
  pages.add(kBlock, 100 * kUs);
  pages.add(kOther, 101 * kUs);
  EXPECT_TRUE(pages.holds());
  EXPECT_EQ(pages.kept_until_ns(kBlock), 110 * kUs);
  EXPECT_EQ(pages.kept_until_ns(kOther), 111 * kUs);
  pages.add(kThird, 102 * kUs);
  EXPECT_EQ(pages.kept_until_ns(kBlock), 0u);
  EXPECT_EQ(pages.kept_until_ns(kThird), 112 * kUs);
}

TEST(LatestPagesTest, KeepOneForLongerThatComesBackSoonButNotForEver) {
  LatestPages pages;
  std::uint64_t now = kUs;
  for (std::uint64_t stays : {10, 20, 40, 80, 80, 80}) {
    pages.add(kBlock, now);
    EXPECT_EQ(pages.kept_until_ns(kBlock), now + stays * kUs);
    now += (stays + 5) * kUs;
  }
  now += 5000 * kUs;
  pages.add(kBlock, now);
  EXPECT_EQ(pages.kept_until_ns(kBlock), now + 10 * kUs);
}

// What a thread was to have time for is over when it calls for something else.
TEST(LatestPagesTest, KeepNothingOfAThreadThatHasGoneOn) {
  LatestPages pages;
  pages.add(kBlock, 0);
  pages.add(kBlock, 12 * kUs);
  pages.add(kOther, 14 * kUs);
  pages.let_go(20 * kUs);
  EXPECT_FALSE(pages.holds());
  EXPECT_EQ(pages.kept_until_ns(kBlock), 20 * kUs);
  EXPECT_EQ(pages.kept_until_ns(kOther), 20 * kUs);
  pages.add(kBlock, 25 * kUs);  // twice as long as it had it: 8 us
  EXPECT_EQ(pages.kept_until_ns(kBlock), 41 * kUs);
  pages.let_go(50 * kUs);
  EXPECT_EQ(pages.kept_until_ns(kBlock), 41 * kUs);
}

}  // namespace
}  // namespace terrane::runtime
