#include "waiting/limit.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

bool gives_up = false;

TEST(WaitLimitTest, AWaitHasNoLimitUnlessItIsGivenOne) {
  EXPECT_TRUE(WaitLimit().is_none());
  EXPECT_FALSE(WaitLimit().is_reached());
  EXPECT_FALSE(WaitLimit(platform::now_ns()).is_none());
}

TEST(WaitLimitTest, ATimeOrTheWaitingThreadEndsIt) {
  EXPECT_TRUE(WaitLimit(platform::now_ns()).is_reached());
  EXPECT_FALSE(WaitLimit(platform::now_ns() + 3'600'000'000'000).is_reached());
  WaitLimit limit(WaitLimit::kNever, [] { return gives_up; });
  EXPECT_FALSE(limit.is_none());
  EXPECT_FALSE(limit.is_reached());
  gives_up = true;
  EXPECT_TRUE(limit.is_reached());
}

}  // namespace
}  // namespace terrane::runtime
