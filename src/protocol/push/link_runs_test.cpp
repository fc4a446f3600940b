#include "protocol/push/link_runs.h"

#include <gtest/gtest.h>

#include <map>

namespace terrane::protocol {
namespace {

constexpr std::uint32_t kTwo[] = {0, 0, 0, 1, 1, 1};
constexpr NodeId kSelf{0};

class LinkRunsTest : public testing::Test {
 protected:
  std::vector<Subscribed> cut(std::vector<Subscribed> due) {
    cut_for_links(clusters, kSelf, due);
    return due;
  }

  Clusters clusters{6, nullptr, kTwo};
};

TEST_F(LinkRunsTest, RunsWithoutCommonBlocksStayAsTheyAre) {
  std::vector<Subscribed> due{{{0, 4}, NodeId{3}}, {{0, 4}, NodeId{4}}, {{4, 4}, NodeId{5}}};
  EXPECT_EQ(cut(due), due);
}

TEST_F(LinkRunsTest, RunsThatCrossNoLinkTogetherStayAsTheyAre) {
  std::vector<Subscribed> due{{{0, 4}, NodeId{1}}, {{2, 4}, NodeId{2}}, {{3, 4}, NodeId{3}}};
  EXPECT_EQ(cut(due), due);
  Clusters one(6, nullptr, nullptr);
  due = {{{0, 4}, NodeId{3}}, {{2, 4}, NodeId{4}}};
  auto all = due;
  cut_for_links(one, kSelf, all);
  EXPECT_EQ(all, due);
}

TEST_F(LinkRunsTest, EachBlockIsInOnePushAndEachReaderGetsItsRun) {
  std::vector<Subscribed> due{{{10, 12}, NodeId{3}}, {{10, 16}, NodeId{5}}, {{22, 16}, NodeId{3}},
                              {{26, 16}, NodeId{4}}, {{26, 16}, NodeId{5}}, {{60, 1}, NodeId{4}}};
  std::map<std::uint32_t, std::map<std::uint64_t, int>> wanted, got;  // blocks by reader
  for (const auto& [run, reader] : due)
    for (std::uint64_t b = run.first; b < run.end(); ++b) wanted[reader.value][b] = 1;
  std::map<std::uint64_t, BlockRange> part_of;  // by block
  for (const auto& [run, reader] : cut(due)) {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      ++got[reader.value][b];
      BlockRange& part = part_of.try_emplace(b, run).first->second;
      EXPECT_TRUE(part.first == run.first && part.count == run.count) << b;
    }
  }
  EXPECT_EQ(got, wanted);
}

TEST_F(LinkRunsTest, AReaderOfTwoRunsThatOverlapGetsEachBlockOnce) {
  std::vector<Subscribed> parts =
      cut({{{0, 4}, NodeId{3}}, {{1, 4}, NodeId{3}}, {{1, 4}, NodeId{4}}});
  std::map<std::uint64_t, int> got;
  for (const auto& [run, reader] : parts)
    for (std::uint64_t b = run.first; b < run.end() && reader == NodeId{3}; ++b) ++got[b];
  EXPECT_EQ(got, (std::map<std::uint64_t, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
}

}  // namespace
}  // namespace terrane::protocol
