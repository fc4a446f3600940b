#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "sim/campaign.h"

namespace terrane::sim {
namespace {

constexpr std::uint64_t kBudget = 100'000;  // seeds in which every planted fault must show

// A seed near which a planted fault that shows seldom was caught, so that the test is fast; it is
// only where the search begins.
struct Hint {
  std::string_view mutant;
  std::uint64_t seed;
  std::uint32_t nodes = 0;
};
constexpr Hint kHints[] = {{"DeparturesUnordered", 24039},
                           {"FetchCopiesFirst", 5919},
                           {"OfferForgetsWrites", 2679},
                           {"OfferDespiteFlush", 2318},
                           {"ClaimTracked", 107208},
                           {"ApplyUncounted", 59154},
                           {"GrantDuringFlush", 485, 3},
                           {"ReuseEarly", 384},
                           {"ReadOnce", 14655},
                           {"SiblingsExpiryUnawaited", 833},
                           {"TakeTrustsWord", 1328},
                           {"TrackAgain", 353},
                           {"TrackSaysHere", 419, 3},
                           {"LookOnceForClaim", 50199},
                           {"FlushKeepsOffer", 2970},
                           {"MeetsApart", 221176, 3},
                           {"MeetingKeepsLeases", 2965},
                           {"CalmForgetsChanges", 26646, 3},
                           {"AlongAfterLocks", 17, 2},
                           {"AlongApart", 6306, 2},
                           {"AlongOverOwn", 155, 2},
                           {"ExpectsWhatEnded", 36681},
                           {"FlushKeepsSerial", 129687, 3},
                           {"MissKeepsSerial", 376675, 3}};

// Planted faults that need more seeds than a test has time for. Two showed by single seeds before
// offers came a departure later: SettleUnconfirmed at 72,909 of three nodes, and in none of the
// first 400,000 since; ForgetsWhereFrom at 3,198,979 of four, and in none of the first 100,000.
// FollowsFreed showed at 758,066 of four nodes before freed regions were dropped twice, and in none
// of about two millions from 100,000 on since. RenewSettlesEarly showed at 195,691 of two nodes
// before misses in order began at the first block as elsewhere, and in none of the first 1,500,000
// of one host since.
constexpr std::string_view kSeldom[] = {"SettleUnconfirmed", "ForgetsWhereFrom", "FollowsFreed",
                                        "RenewSettlesEarly"};

class MutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(MutantTest, IsCaught) {
  if (std::find(std::begin(kSeldom), std::end(kSeldom), GetParam()) != std::end(kSeldom))
    GTEST_SKIP() << GetParam() << " shows too seldom; by hand: terrane sim --mutant " << GetParam();
  CampaignOptions options;
  options.mutant = GetParam();
  options.jobs = 2;
  for (const Hint& hint : kHints) {
    if (hint.mutant != GetParam()) continue;
    options.seed = hint.seed / 8 * 8;
    options.shape.nodes = hint.nodes;
  }
  options.histories = 64;
  CampaignReport report = run_campaign(options);
  if (!report.failed_seed) {
    options.seed = 1;
    options.shape.nodes = 0;
    options.histories = kBudget;
    report = run_campaign(options);
  }
  ASSERT_TRUE(report.failed_seed) << GetParam() << " is not caught";
  RecordProperty("seed", std::to_string(*report.failed_seed));
  options.mutant = {};
  EXPECT_FALSE(sim::replay(options, *report.failed_seed).failed) << "nor is it by the fault";
  std::printf("caught by seed %llu: %s\n", static_cast<unsigned long long>(*report.failed_seed),
              report.reason.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, MutantTest, testing::ValuesIn(mutant_names()),
                         [](const auto& info) { return std::string(info.param); });

class ScMutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(ScMutantTest, IsCaught) {
  CampaignOptions options;
  options.protocol = Protocol::kSc;
  options.mutant = GetParam();
  options.histories = 20'000;
  CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.failed_seed) << GetParam() << " is not caught";
  std::printf("caught by seed %llu: %s\n", static_cast<unsigned long long>(*report.failed_seed),
              report.reason.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, ScMutantTest, testing::ValuesIn(mutant_names(Protocol::kSc)),
                         [](const auto& info) { return std::string(info.param); });

TEST(MutantsTest, AreAtLeastTwelve) { EXPECT_GE(mutant_names().size(), 12u); }

}  // namespace
}  // namespace terrane::sim
