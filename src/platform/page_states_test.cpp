#include "platform/page_states.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/prng.h"

namespace terrane::platform {
namespace {

TEST(PageStatesTest, ANewTableIsOneRunOfNothing) {
  auto states = PageStates::create(std::uint64_t{1} << 28).value();  // 1 TiB of pages
  EXPECT_EQ(states.runs(), 1u);
  EXPECT_EQ(states.high_water(), 0u);
  EXPECT_EQ(states.at(states.pages() - 1), PageState::kNone);
}

TEST(PageStatesTest, JoinedNeighboursAreOneRun) {
  auto states = PageStates::create(200).value();
  states.set(10, 20, PageState::kRead);
  EXPECT_EQ(states.runs(), 3u);
  states.set(30, 40, PageState::kRead);
  EXPECT_EQ(states.runs(), 5u);
  states.set(20, 30, PageState::kRead);
  EXPECT_EQ(states.runs(), 3u);
  EXPECT_EQ(states.end_of_run(15, 200), 40u);
  EXPECT_EQ(states.end_of_run(15, 33), 33u);
  states.set(0, 200, PageState::kNone);
  EXPECT_EQ(states.runs(), 1u);
}

TEST(PageStatesTest, PresenceTellsNothingOfKinds) {
  auto states = PageStates::create(200).value();
  states.set(10, 50, PageState::kRead);
  states.set(50, 90, PageState::kWrite);
  EXPECT_EQ(states.end_of_presence(0, 200), 10u);
  EXPECT_EQ(states.end_of_presence(10, 200), 90u);
  EXPECT_EQ(states.end_of_presence(60, 70), 70u);
  EXPECT_EQ(states.high_water(), 90u);
}

// Against a plain array, counted anew after each step.
TEST(PageStatesTest, RandomChangesAreCountedAsAPlainArrayCounts) {
  constexpr std::uint64_t kPages = 300;
  auto states = PageStates::create(kPages).value();
  std::vector<PageState> plain(kPages, PageState::kNone);
  base::Prng random(7);
  for (int step = 0; step < 3000; ++step) {
    std::uint64_t first = random.below(kPages);
    std::uint64_t end = first + 1 + random.below(std::min<std::uint64_t>(kPages - first, 70));
    const PageState all[] = {PageState::kNone, PageState::kRead, PageState::kWrite};
    PageState state = all[random.below(3)];
    states.set(first, end, state);
    std::fill(plain.begin() + static_cast<long>(first), plain.begin() + static_cast<long>(end),
              state);
    std::uint64_t runs = 1;
    for (std::uint64_t page = 1; page < kPages; ++page) runs += plain[page] != plain[page - 1];
    ASSERT_EQ(states.runs(), runs) << "step " << step;
    std::uint64_t page = random.below(kPages);
    std::uint64_t run_end = page + 1;
    while (run_end < kPages && plain[run_end] == plain[page]) ++run_end;
    ASSERT_EQ(states.at(page), plain[page]);
    ASSERT_EQ(states.end_of_run(page, kPages), run_end);
  }
}

}  // namespace
}  // namespace terrane::platform
