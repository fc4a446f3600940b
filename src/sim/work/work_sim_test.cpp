#include "sim/campaign_claims.h"

namespace terrane::sim {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 500;
#elif defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr std::uint64_t kHistories = 2'000;
#else
constexpr std::uint64_t kHistories = 20'000;
#endif

TEST(WorkSimTest, NoVersionIsLostAndEveryBranchIsTaken) {
  CampaignReport report =
      expect_all_hold(options_of(Protocol::kWorkStream, kHistories), kHistories >= 20'000);
  EXPECT_GT(report.counted, report.histories / 3) << "too few deaths";
}

TEST(WorkSimTest, ASeedGivesTheSameHistoryEveryTime) {
  expect_same_history_every_time(Protocol::kWorkStream);
}

class WorkMutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(WorkMutantTest, IsCaught) { expect_caught(Protocol::kWorkStream, GetParam(), 20'000); }

INSTANTIATE_TEST_SUITE_P(All, WorkMutantTest,
                         testing::ValuesIn(mutant_names(Protocol::kWorkStream)),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace terrane::sim
