#include <gtest/gtest.h>

#include "sim/campaign.h"

namespace terrane::sim {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 200;
#elif defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr std::uint64_t kHistories = 500;
#else
constexpr std::uint64_t kHistories = 4'000;
#endif

CampaignOptions options_of(std::uint64_t histories) {
  CampaignOptions options;
  options.protocol = Protocol::kRouting;
  options.histories = histories;
  options.jobs = 2;
  return options;
}

TEST(RoutingSimTest, NoMessageIsLostAndEveryBranchIsTaken) {
  CampaignReport report = run_campaign(options_of(kHistories));
  EXPECT_FALSE(report.failed_seed)
      << "seed " << report.failed_seed.value_or(0) << ": " << report.reason;
  EXPECT_GT(report.counted, report.histories / 3) << "too few gateways and links are lost";
  if (kHistories < 4'000) return;  // too few for rare branches
  for (const BranchCount& count : report.branches)
    EXPECT_GT(count.times, 0u) << "no history takes the branch " << count.branch;
}

TEST(RoutingSimTest, ASeedGivesTheSameHistoryEveryTime) {
  CampaignOptions options = options_of(1);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Replay one = replay(options, seed), other = replay(options, seed);
    EXPECT_EQ(one.hash, other.hash) << "seed " << seed;
    EXPECT_EQ(one.trace, other.trace) << "seed " << seed;
  }
}

class RoutingMutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(RoutingMutantTest, IsCaught) {
  CampaignOptions options = options_of(20'000);
  options.mutant = GetParam();
  CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.failed_seed) << GetParam() << " is not caught";
  std::printf("caught by seed %llu: %s\n", static_cast<unsigned long long>(*report.failed_seed),
              report.reason.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, RoutingMutantTest,
                         testing::ValuesIn(mutant_names(Protocol::kRouting)),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace terrane::sim
