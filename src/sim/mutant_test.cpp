#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sim/campaign.h"
#include "sim/script/script.h"

namespace terrane::sim {
namespace {

// Histories from the first seed on in which every planted fault must be found, by the number of
// nodes (0: 4 to 6). With two nodes, barriers have cases that do not occur with more. With three
// nodes, more happens in the same time. Faults that need several mechanisms at once are found
// soonest with random predictions, by programs without races, where only one value of a load is
// right.
struct Search {
  std::uint32_t nodes;
  std::uint64_t histories;
  Mix random_predictions = Mix::kMix;
  Mix racy = Mix::kMix;
};
constexpr Search kSearches[] = {
    {0, 4'000},
    {2, 20'000},
    {4, 20'000, Mix::kOnly, Mix::kNever},
    {3, 20'000, Mix::kOnly, Mix::kNever},
    {2, 40'000, Mix::kOnly, Mix::kNever},
    {3, 40'000},
    {0, 40'000},
};

// Planted faults that need more histories than the test has time for, and where their search
// begins. SettleUnconfirmed: a flush follows a home to another host, where the home's bytes have
// not arrived yet. TrackSaysHere: a home moves away while a release begins to track it.
// MissKeepsVersion: a copy is missed between a push and the next push. GrantDuringFlush: a reader
// asked during a flush. BarrierOwnNotices: notices reach a node by a lock alone, then by a barrier.
// FlushKeepsVersion: a node flushes its writes between two pushes of the page. PipelineKeepsShort:
// fewer blocks come than a pipelined request asked for.
struct Start {
  std::string_view mutant;
  std::uint32_t nodes;
  std::uint64_t seed;
  Mix random_predictions = Mix::kOnly;
  Mix racy = Mix::kNever;
};
constexpr Start kStarts[] = {{"SettleUnconfirmed", 3, 1, Mix::kMix, Mix::kMix},
                             {"TrackSaysHere", 3, 138'500, Mix::kMix, Mix::kNever},
                             {"MissKeepsVersion", 0, 266'000, Mix::kMix, Mix::kMix},
                             {"GrantDuringFlush", 0, 31'000, Mix::kMix, Mix::kMix},
                             {"BarrierOwnNotices", 3, 15'500, Mix::kMix, Mix::kMix},
                             {"FlushKeepsVersion", 3, 8'000},
                             {"PipelineKeepsShort", 4, 7'500}};

// Planted faults that random histories show too rarely, and a script that shows each.
struct Scripted {
  std::string_view mutant;
  std::string_view script;
};
constexpr Scripted kScripted[] = {{"FollowsFreed", "refresh_of_freed"},
                                  {"ForgetsWhereFrom", "run_behind_a_move"},
                                  {"RefreshSettlesEarly", "refresh_is_a_lease"},
                                  {"PushesFreed", "push_after_free"},
                                  {"ReplacedEndsEarly", "push_is_replaced"},
                                  {"GatherApart", "join_after_exit"},
                                  {"PromoteForgetsWrites", "promoted_after_a_write"},
                                  {"ReadOnce", "home_moves_during_read"},
                                  {"StoresBeforeReturn", "flush_to_returning_home"},
                                  {"FenceUncounted", "counted_fence"},
                                  {"FenceTrustsUnapplied", "fence_beside_a_count"}};

// A mechanism that another one covers: a written entry that leaves the view counts as written at
// the next scan in any case (decision 53).
constexpr std::string_view kCovered = "ProbeForgetsWrites";

const Scripted* script_of(std::string_view mutant) {
  const auto* found = std::find_if(std::begin(kScripted), std::end(kScripted),
                                   [&](const Scripted& one) { return one.mutant == mutant; });
  return found == std::end(kScripted) ? nullptr : found;
}

void expect_caught_by(const Scripted& one) {
  std::ifstream file(std::string(TERRANE_SCENARIOS "/") + std::string(one.script) + ".scenario");
  std::string text(std::istreambuf_iterator<char>(file), {});
  base::Result<Script> script = parse_script(std::string(one.script), text);
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_EQ(script.value().mutant, one.mutant);
  EXPECT_NE(script.value().fails, "None");
  EXPECT_EQ(run_script(script.value()).failure, "");
}

// Planted faults of homes that look for races: only histories show them in which homes do so.
bool is_of_check(std::string_view mutant) { return mutant.starts_with("Check"); }

CampaignReport search(CampaignOptions& options) {
  options.shape.check_races = is_of_check(options.mutant);
  options.shape.check_accesses = options.mutant.find("Reads") != std::string::npos;
  for (const Start& start : kStarts) {
    if (start.mutant != options.mutant) continue;
    options.shape.nodes = start.nodes;
    options.shape.random_predictions = start.random_predictions;
    options.shape.racy = start.racy;
    options.seed = start.seed;
    options.histories = 1'000;
    return run_campaign(options);
  }
  CampaignReport report;
  for (const Search& search : kSearches) {
    options.shape.nodes = search.nodes;
    options.shape.random_predictions = search.random_predictions;
    options.shape.racy = search.racy;
    options.histories = search.histories;
    report = run_campaign(options);
    if (report.failed_seed) break;
  }
  return report;
}

class MutantTest : public testing::TestWithParam<std::string_view> {};

TEST_P(MutantTest, IsCaught) {
  if (const Scripted* scripted = script_of(GetParam())) return expect_caught_by(*scripted);
  if (GetParam() == kCovered) GTEST_SKIP() << "the scan finds what it hides";
  CampaignOptions options;
  options.mutant = GetParam();
  options.jobs = 2;
  CampaignReport report = search(options);
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
