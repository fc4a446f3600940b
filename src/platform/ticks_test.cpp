#include "platform/ticks.h"

#include <gtest/gtest.h>

#include "platform/wait.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kFarNs = 50'000'000;  // further than any rounding, nearer than any mistake

void expect_near(std::uint64_t a_ns, std::uint64_t b_ns) {
  EXPECT_LT(a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns, kFarNs);
}

TEST(TicksTest, MomentsAndDurationsAreThoseOfTheClock) {
  TickScale scale;
  std::uint64_t begin = ticks(), begin_ns = now_ns();
  while (now_ns() - begin_ns < 2 * kFarNs) {
  }
  std::uint64_t end = ticks(), end_ns = now_ns();
  scale.mark();
  expect_near(scale.moment_ns(begin), begin_ns);
  expect_near(scale.moment_ns(end), end_ns);
  expect_near(scale.duration_ns(end - begin), end_ns - begin_ns);
  EXPECT_EQ(scale.duration_ns(0), 0u);
}

TEST(TicksTest, TheyDoNotGoBack) {
  for (std::uint64_t i = 0, last = ticks(); i < 100'000; ++i) {
    std::uint64_t now = ticks();
    ASSERT_LE(last, now);
    last = now;
  }
}

}  // namespace
}  // namespace terrane::platform
