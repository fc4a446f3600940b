#include "waiting/handler_sleep.h"

#include <gtest/gtest.h>

namespace terrane::waiting {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

void wake_idly(HandlerSleep& sleep, int times, std::uint64_t now_ns) {
  for (int i = 0; i < times; ++i) sleep.took(true, false, now_ns);
}

TEST(HandlerSleepTest, MessagesWakeUntilFourOnEndWereOfNoUse) {
  HandlerSleep sleep;
  EXPECT_EQ(sleep.patience_ns(0), 0u);
  wake_idly(sleep, 3, 0);
  sleep.took(false, false, 0);  // a look that finds nothing says nothing
  EXPECT_EQ(sleep.patience_ns(0), 0u);
  wake_idly(sleep, 1, 0);
  EXPECT_EQ(sleep.patience_ns(0), kMs);
}

TEST(HandlerSleepTest, PatienceGrowsWithTheTimeInWhichNothingUrgentCame) {
  HandlerSleep sleep;
  wake_idly(sleep, 4, 100 * kMs);
  EXPECT_EQ(sleep.patience_ns(101 * kMs), kMs);
  EXPECT_EQ(sleep.patience_ns(140 * kMs), 5 * kMs);
  wake_idly(sleep, 10, 140 * kMs);
  EXPECT_EQ(sleep.patience_ns(180 * kMs), 10 * kMs);
  EXPECT_EQ(sleep.patience_ns(100'000 * kMs), 20 * kMs);
}

TEST(HandlerSleepTest, SomethingUrgentMakesItPrompt) {
  HandlerSleep sleep;
  wake_idly(sleep, 4, 0);
  sleep.took(true, true, 1000 * kMs);
  EXPECT_EQ(sleep.patience_ns(1000 * kMs), 0u);
  wake_idly(sleep, 4, 1000 * kMs);
  EXPECT_EQ(sleep.patience_ns(1001 * kMs), kMs);
}

}  // namespace
}  // namespace terrane::waiting
