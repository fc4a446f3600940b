#include <gtest/gtest.h>

#include "sim/campaign.h"

namespace terrane::sim {
namespace {

// Seeds with which the protocol once broke the memory model. The planted faults TrackAgain,
// TrackCopies, LookOnceForClaim, BarrierOwnNotices, ExitsUnordered and KeepFailedFetch are the
// same mistakes, since the program of a seed may have changed.
struct Regression {
  std::uint64_t seed;
  std::string_view what;
};
constexpr Regression kRegressions[] = {
    {15733, "a reader's request from before a free tracked a copy"},
    {10732, "a tracked block was protected again, and a write went unnoticed"},
    {5161, "a copy of zeros outlived the acquire that should have dropped it"},
    {23038, "a barrier did not pass on an interval that came by a lock"},
    {1058381, "a copy that was only read claimed a home in a freed region"},
    {1035854, "a fetch that found no memory left its block among the copies"},
    {115685, "the same, seen by another history"},
    {2580237,
     "not the protocol but the checker: a store of a value that a racing one had put there"},
};

TEST(RegressionTest, SeedsThatOnceFailedStayRight) {
  CampaignOptions options;
  options.careful_every = 1;
  options.shape.hosts = 1;  // as when the seeds were found
  for (const Regression& regression : kRegressions) {
    Replay replay = sim::replay(options, regression.seed);
    EXPECT_FALSE(replay.failed) << regression.what << ", seed " << regression.seed << ": "
                                << replay.reason;
  }
}

// A node pushed a block of a region that had been freed and allocated again with another home.
TEST(RegressionTest, ASubscriptionOutlivesItsRegion) {
  CampaignOptions options;
  options.careful_every = 1;
  options.shape.nodes = 2;
  options.shape.random_predictions = Mix::kOnly;
  options.shape.racy = Mix::kNever;
  Replay replay = sim::replay(options, 335'514);
  EXPECT_FALSE(replay.failed) << replay.reason;
}

// A program loses operations while it is made smaller, also those that allocate the regions.
// Sanitizers see what then lies outside.
TEST(RegressionTest, AProgramWithFlagsIsMadeSmaller) {
  CampaignOptions options;
  options.mutant = "GrantBeforeReady";
  options.histories = 2'000;
  CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.failed_seed);
  Shrunk small = shrink(options, *report.failed_seed);
  EXPECT_GT(small.tried, 100u);
  EXPECT_FALSE(small.reason.empty());
}

}  // namespace
}  // namespace terrane::sim
