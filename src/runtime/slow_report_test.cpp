#include "runtime/slow_report.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::string name_of(std::uint64_t lock) { return "lock " + std::to_string(lock); }

std::vector<std::string> lines_of(const std::vector<NodeTimes>& nodes,
                                  const std::vector<std::vector<std::uint64_t>>& first_from = {}) {
  return slow_lines(slow_sentences(nodes, first_from, name_of));
}

TEST(SlowReportTest, ALockThatTravelsIsNamed) {
  NodeTimes idle{.lived_ns = 1000 * kMs};
  NodeTimes waits{
      .lived_ns = 1000 * kMs, .lock = 7, .lock_wait_ns = 410 * kMs, .acquires = 20, .remote = 12};
  auto lines = lines_of({idle, waits});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("slow: node 1 waited 41 % of its time for lock 7, which came from other "
                          "nodes in 12 of 20 times"),
            0u)
      << lines[0];
  waits.lock_wait_ns = 0;
  EXPECT_EQ(lines_of({idle, waits})[0].find("slow: nothing"), 0u);
}

TEST(SlowReportTest, ANodeThatHasMoreWorkIsNamed) {
  NodeTimes busy{.lived_ns = 1000 * kMs, .barrier_ns = 10 * kMs};
  NodeTimes waits{.lived_ns = 1000 * kMs, .barrier_ns = 300 * kMs};
  EXPECT_NE(lines_of({waits, busy})[0].find("node 0 waited 30 % of its time at barriers, and node "
                                            "1 only 1.0 %: node 1 has more work"),
            std::string::npos);
  EXPECT_NE(lines_of({waits, waits})[0].find("each node at least 30 %"), std::string::npos);
}

TEST(SlowReportTest, ANodeThatFillsAllIsNamed) {
  NodeTimes idle{.lived_ns = 1000 * kMs};
  NodeTimes waits{.lived_ns = 1000 * kMs, .fetch_ns = 500 * kMs, .first_ns = 200 * kMs};
  auto lines = lines_of({idle, waits}, {{0, 75}, {1000, 0}});
  EXPECT_NE(
      lines[0].find("node 1 waited 20 % of its time for 1000 pages that it had not had before: 93 "
                    "% of all such pages came from node 0"),
      std::string::npos)
      << lines[0];
  EXPECT_EQ(lines_of({idle, waits}, {{0, 1000}, {1000, 0}})[0].find("came from node"),
            std::string::npos);
}

TEST(SlowReportTest, WithoutTheCheckItSaysHowToFindOut) {
  NodeTimes waits{.lived_ns = 1000 * kMs, .fetch_ns = 500 * kMs};
  EXPECT_NE(lines_of({waits, waits})[0].find("50 % of its time for pages of other nodes; "
                                             "--check=sharing says which"),
            std::string::npos);
}

TEST(SlowReportTest, ThreeSentencesAreEnough) {
  auto lines = slow_lines({{0.1, 100 * kMs, "a"},
                           {0.5, 100 * kMs, "b"},
                           {0.2, 100 * kMs, "c"},
                           {0.3, 100 * kMs, "d"},
                           {0.6, 10 * kMs, "e"}});
  EXPECT_EQ(lines, (std::vector<std::string>{"slow: b", "slow: d", "slow: c"}));
  EXPECT_EQ(slow_lines({{0.01, 100 * kMs, "e"}})[0].find("slow: nothing"), 0u);
}

TEST(SlowReportTest, OneNodeAloneWaitsForNobody) {
  EXPECT_TRUE(slow_sentences(std::vector<NodeTimes>(1), {}, name_of).empty());
}

}  // namespace
}  // namespace terrane::runtime
