#include "runtime/chunks/window.h"

#include <gtest/gtest.h>

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kGigabit = 125'000'000, kBudget = std::uint64_t{1} << 30;

TEST(WindowTest, TheWayIsNeverEmpty) {
  EXPECT_EQ(window_for(1024, kGigabit, 200'000, kBudget), 26u) << "25,000 bytes are under way";
  EXPECT_EQ(window_for(1024, 10 * kGigabit, 200'000, kBudget), 246u);
  EXPECT_EQ(window_for(2'100'000, kGigabit, 200'000, kBudget), 2u);
  EXPECT_EQ(window_for(2'100'000, 80 * kGigabit, 1'000'000, kBudget), 6u);
}

TEST(WindowTest, AtLeastTwoAreUnderWay) {
  EXPECT_EQ(window_for(1024, 0, 0, kBudget), 2u) << "no network between";
  EXPECT_EQ(window_for(kBudget, kGigabit, 200'000, kBudget), 2u);
}

TEST(WindowTest, NoMoreThanAQuarterOfTheBudgetIsSetAside) {
  EXPECT_EQ(window_for(1 << 20, 80 * kGigabit, 100'000'000, 128 << 20), 28u);
  EXPECT_EQ(window_for(1, 80 * kGigabit, 100'000'000, kBudget), 1024u) << "the most that there is";
}

}  // namespace
}  // namespace terrane::runtime::chunks
