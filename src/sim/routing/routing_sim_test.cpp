#include "sim/campaign_claims.h"

namespace terrane::sim {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 200;
#elif defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr std::uint64_t kHistories = 500;
#else
constexpr std::uint64_t kHistories = 4'000;
#endif

TEST(RoutingSimTest, NoMessageIsLostAndEveryBranchIsTaken) {
  CampaignReport report =
      expect_all_hold(options_of(Protocol::kRouting, kHistories), kHistories >= 4'000);
  EXPECT_GT(report.counted, report.histories / 3) << "too few gateways and links are lost";
}

TEST(RoutingSimTest, ASeedGivesTheSameHistoryEveryTime) {
  expect_same_history_every_time(Protocol::kRouting);
}

class RoutingMutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(RoutingMutantTest, IsCaught) { expect_caught(Protocol::kRouting, GetParam(), 20'000); }

INSTANTIATE_TEST_SUITE_P(All, RoutingMutantTest,
                         testing::ValuesIn(mutant_names(Protocol::kRouting)),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace terrane::sim
