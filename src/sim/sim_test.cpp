#include <gtest/gtest.h>

#include "sim/campaign.h"

namespace terrane::sim {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 500;
#elif defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr std::uint64_t kHistories = 3'000;
#else
constexpr std::uint64_t kHistories = 20'000;
#endif

std::string failure_text(const CampaignReport& report) {
  return "seed " + std::to_string(report.failed_seed.value_or(0)) + ": " + report.reason;
}

CampaignOptions options_of(Mix racy, Detection detection, std::uint64_t histories) {
  CampaignOptions options;
  options.shape.racy = racy;
  options.shape.detection = detection;
  options.histories = histories;
  options.jobs = 2;
  return options;
}

TEST(SimTest, HlrcKeepsTheMemoryModelAndEveryBranchIsTaken) {
  CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories * 2);
  options.careful_every = 4;
  CampaignReport report = run_campaign(options);
  EXPECT_FALSE(report.failed_seed) << failure_text(report);
  EXPECT_GT(report.counted, report.histories * 99 / 100);
  if (kHistories < 3'000) return;  // too few for rare branches
  // With two nodes, barriers have cases that do not occur with more.
  options.shape.nodes = 2;
  options.histories /= 4;
  CampaignReport two = run_campaign(options);
  EXPECT_FALSE(two.failed_seed) << failure_text(two);
  for (std::size_t i = 0; i < report.branches.size(); ++i)
    EXPECT_GT(report.branches[i].times + two.branches[i].times, 0u)
        << "no history takes the branch " << report.branches[i].branch;
}

TEST(SimTest, ScKeepsOneWriterOrManyReadersAndEveryBranchIsTaken) {
  CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories);
  options.protocol = Protocol::kSc;
  CampaignReport report = run_campaign(options);
  EXPECT_FALSE(report.failed_seed) << failure_text(report);
  for (const BranchCount& count : report.branches)
    EXPECT_GT(count.times, 0u) << "no history takes the branch " << count.branch;
}

TEST(SimTest, ScServesFewAndManyNodes) {
  for (std::uint32_t nodes : {2, 16}) {
    CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories / 40);
    options.protocol = Protocol::kSc;
    options.shape.nodes = nodes;
    CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.failed_seed) << nodes << " nodes, " << failure_text(report);
  }
}

TEST(SimTest, ProgramsWithoutRacesSeeOneMemory) {
  for (Detection detection : {Detection::kScan, Detection::kFault}) {
    CampaignReport report = run_campaign(options_of(Mix::kNever, detection, kHistories / 4));
    EXPECT_FALSE(report.failed_seed) << failure_text(report);
  }
}

TEST(SimTest, ProgramsWithRacesSeeNothingThatWasOverwritten) {
  for (Detection detection : {Detection::kScan, Detection::kFault}) {
    CampaignReport report = run_campaign(options_of(Mix::kOnly, detection, kHistories / 4));
    EXPECT_FALSE(report.failed_seed) << failure_text(report);
  }
}

TEST(SimTest, HomesFindTheRacesThatThereAreAndNoOthers) {
  for (std::uint32_t nodes : {0, 2, 3}) {
    CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories / 4);
    options.shape.check_races = true;
    options.shape.nodes = nodes;
    CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.failed_seed) << nodes << " nodes, " << failure_text(report);
  }
}

TEST(SimTest, AccessesOfSeveralNodesRaceWhereNothingOrdersThem) {
  for (std::uint32_t nodes : {0, 2, 3}) {
    CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories / 4);
    options.shape.check_races = options.shape.check_accesses = true;
    options.shape.nodes = nodes;
    CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.failed_seed) << nodes << " nodes, " << failure_text(report);
  }
}

TEST(SimTest, FewAndManyNodesKeepTheMemoryModel) {
  for (std::uint32_t nodes : {2, 3, 9, 16}) {
    CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories / 10);
    options.shape.nodes = nodes;
    CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.failed_seed) << nodes << " nodes, " << failure_text(report);
  }
}

TEST(SimTest, EveryPredictorKeepsTheMemoryModel) {
  for (const char* predictor : {"random", "never", "four_pages"}) {
    CampaignOptions options = options_of(Mix::kMix, Detection::kMix, kHistories / 10);
    ASSERT_TRUE(set_prediction(options.shape, predictor));
    CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.failed_seed) << predictor << ", " << failure_text(report);
  }
}

TEST(SimTest, ASeedGivesTheSameHistoryEveryTime) {
  CampaignOptions options;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    Replay one = replay(options, seed);
    Replay other = replay(options, seed);
    EXPECT_EQ(one.hash, other.hash) << "seed " << seed;
    EXPECT_EQ(one.trace, other.trace) << "seed " << seed;
  }
}

TEST(SimTest, HowManyThreadsSimulateChangesNothing) {
  CampaignOptions options;
  options.histories = 500;
  CampaignReport one = run_campaign(options);
  options.jobs = 3;
  CampaignReport three = run_campaign(options);
  EXPECT_EQ(one.hash, three.hash);
  EXPECT_EQ(one.messages, three.messages);
}

TEST(SimTest, ACampaignStopsAtTheLowestFailingSeed) {
  CampaignOptions options;
  options.mutant = "ForgetInvalidated";
  options.histories = 1000;
  CampaignReport one = run_campaign(options);
  options.jobs = 3;
  CampaignReport three = run_campaign(options);
  ASSERT_TRUE(one.failed_seed && three.failed_seed);
  EXPECT_EQ(*one.failed_seed, *three.failed_seed);
  EXPECT_EQ(one.reason, three.reason);
}

TEST(SimTest, AFailingHistoryIsReplayedAndMadeSmall) {
  CampaignOptions options;
  options.mutant = "DiffWords";
  options.histories = 1000;
  CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.failed_seed);
  Replay again = replay(options, *report.failed_seed);
  EXPECT_TRUE(again.failed);
  EXPECT_EQ(again.reason, report.reason);
  Shrunk shrunk = shrink(options, *report.failed_seed);
  EXPECT_NE(shrunk.reason.find("WrongValue"), std::string::npos) << shrunk.reason;
  EXPECT_LT(std::count(shrunk.program.begin(), shrunk.program.end(), '\n'), 60) << shrunk.program;
  EXPECT_FALSE(shrunk.trace.empty());
}

}  // namespace
}  // namespace terrane::sim
