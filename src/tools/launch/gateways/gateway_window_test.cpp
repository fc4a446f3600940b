// What links say of the ways between clusters, and how much may be on their way through gateways.
#include "tools/launch/gateways/gateway_window.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/launch/gateways/cluster_paths.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kUsual = 4 * kMiB;  // without links, in a small job
constexpr std::uint64_t kGigabit = 125'000'000, kMillisecond = 1'000'000;

// So many clusters of so many hosts, with a node each.
JobPlan plan_of(std::uint32_t clusters, std::uint32_t hosts,
                std::vector<bootstrap::ClusterLink> links = {}) {
  JobPlan plan;
  bootstrap::JobMap& map = plan.program.map;
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    map.clusters.push_back(std::string(1, static_cast<char>('a' + cluster)));
    for (std::uint32_t host = 0; host < hosts; ++host) {
      map.host_of.push_back(static_cast<std::uint32_t>(map.names.size()));
      map.names.push_back(fmt::format("h{}", map.names.size()));
      map.cluster_of.push_back(cluster);
    }
  }
  map.links = std::move(links);
  return plan;
}

TEST(ClusterPathTest, TheNarrowestLinkAndTheSumOfTheLatenciesCount) {
  auto map = plan_of(4, 1, {{0, 1, 8 * kGigabit, kMillisecond}, {2, 1, kGigabit, 3 * kMillisecond}})
                 .program.map;
  auto paths = paths_from(map, 0);
  EXPECT_EQ(paths[0], ClusterPath());
  EXPECT_EQ(paths[1], (ClusterPath{1, 8 * kGigabit, 2 * kMillisecond}));
  EXPECT_EQ(paths[2], (ClusterPath{2, kGigabit, 8 * kMillisecond}));
  EXPECT_EQ(paths[3], ClusterPath()) << "no link leads there";
  EXPECT_EQ(paths[2].bytes_under_way(), 1'000'000u);
}

TEST(ClusterPathTest, OfShortestWaysTheWidestAndTheLongestCount) {
  auto map = plan_of(4, 1,
                     {{0, 1, kGigabit, kMillisecond},
                      {0, 2, 4 * kGigabit, kMillisecond},
                      {1, 3, kGigabit, 5 * kMillisecond},
                      {2, 3, 2 * kGigabit, kMillisecond}})
                 .program.map;
  EXPECT_EQ(paths_from(map, 0)[3], (ClusterPath{2, 2 * kGigabit, 12 * kMillisecond}));
  EXPECT_EQ(paths_from(map, 3)[0], (ClusterPath{2, 2 * kGigabit, 12 * kMillisecond}));
}

TEST(ClusterPathTest, WhatOneLinkDoesNotSayIsNotKnownOfTheWay) {
  auto map = plan_of(3, 1, {{0, 1, kGigabit, 0}, {1, 2, 0, kMillisecond}}).program.map;
  EXPECT_EQ(paths_from(map, 0)[1], (ClusterPath{1, kGigabit, 0}));
  EXPECT_EQ(paths_from(map, 0)[2], (ClusterPath{2, 0, 0}));
  EXPECT_EQ(paths_from(map, 0)[2].bytes_under_way(), 0u);
}

TEST(ClusterPathTest, BandwidthsAreNumberedAsTheNodesAre) {
  JobPlan plan = plan_of(3, 1, {{0, 1, kGigabit, 0}, {0, 2, 2 * kGigabit, 0}});
  plan.program.map.cluster_of = {2, 0, 1};  // so the nodes' clusters are 0, 1, 2
  EXPECT_EQ(bandwidths_from(plan.program.map, 1),
            (std::vector<std::uint64_t>{2 * kGigabit, 0, kGigabit}));
  EXPECT_EQ(bandwidths_from(plan.program.map, 0),
            (std::vector<std::uint64_t>{0, 2 * kGigabit, kGigabit}));
  EXPECT_TRUE(bandwidths_from(plan_of(2, 1).program.map, 0).empty());
}

TEST(ClusterPathTest, ClustersAndLinksAreDescribed) {
  auto map = plan_of(2, 2, {{0, 1, 10 * kGigabit, kMillisecond / 2}, {0, 1, 0, 0}}).program.map;
  EXPECT_EQ(
      describe_clusters(map),
      (std::vector<std::string>{"cluster a: hosts h0, h1", "cluster b: hosts h2, h3",
                                "link between a and b: 10 Gbit/s, 500 us one way",
                                "link between a and b: bandwidth not given, latency not given"}));
}

TEST(GatewayWindowTest, WithoutLinksAGatewaysMemoryDecides) {
  EXPECT_EQ(gateway_window(plan_of(2, 3)), kUsual);
  EXPECT_EQ(gateway_window(plan_of(2, 32)), 256 * kMiB / (2 * 32 * 32));
  EXPECT_EQ(gateway_window(plan_of(2, 500)), 64u << 10) << "the least that a pair needs";
}

TEST(GatewayWindowTest, LinksThatSayNothingChangeNothing) {
  for (bootstrap::ClusterLink link :
       {bootstrap::ClusterLink{0, 1, 0, 0}, {0, 1, kGigabit, 0}, {0, 1, 0, kMillisecond}})
    EXPECT_EQ(gateway_window(plan_of(2, 3, {link})), kUsual);
}

TEST(GatewayWindowTest, OnePairFillsALink) {
  JobPlan plan = plan_of(2, 3, {{0, 1, 10 * kGigabit, 10 * kMillisecond}});
  EXPECT_EQ(gateway_window(plan), 37'500'000u) << "25,000,000 bytes are under way";
  plan.program.map.links[0].latency_ns = kMillisecond / 10;
  EXPECT_EQ(gateway_window(plan), kUsual) << "a short link leaves it";
}

TEST(GatewayWindowTest, TheSlowestWayDecides) {
  JobPlan plan = plan_of(
      3, 1, {{0, 1, 10 * kGigabit, 4 * kMillisecond}, {1, 2, 10 * kGigabit, 4 * kMillisecond}});
  EXPECT_EQ(gateway_window(plan), 30'000'000u) << "from the first cluster to the third";
}

TEST(GatewayWindowTest, NoGatewayHoldsMoreThanItsBudget) {
  std::vector<bootstrap::ClusterLink> link{{0, 1, 100 * kGigabit, 100 * kMillisecond}};
  EXPECT_EQ(gateway_window(plan_of(2, 1, link)), 64 * kMiB) << "the most of a pair";
  EXPECT_EQ(gateway_window(plan_of(2, 16, link)), 1024 * kMiB / (2 * 16 * 16));
  EXPECT_EQ(gateway_window(plan_of(2, 500, link)), 64u << 10);
}

// In a row of three clusters the gateway in the middle carries what passes it, too.
TEST(GatewayWindowTest, WhatPassesAClusterCounts) {
  std::vector<bootstrap::ClusterLink> row{{0, 1, 0, 0}, {1, 2, 0, 0}};
  EXPECT_EQ(gateway_window(plan_of(3, 16, row)), 256 * kMiB / (6 * 16 * 16));
  row.push_back({0, 2, 0, 0});
  EXPECT_EQ(gateway_window(plan_of(3, 16, row)), 256 * kMiB / (4 * 16 * 16));
}

TEST(GatewayWindowTest, NodesUseAnEighthOfTheirMemoryAtMost) {
  JobPlan plan = plan_of(2, 3, {{0, 1, 10 * kGigabit, 10 * kMillisecond}});
  plan.memory_bytes = 960 * kMiB;
  EXPECT_EQ(gateway_window(plan), 20 * kMiB) << "two windows for each of three far nodes";
  plan.memory_bytes = kMiB;
  EXPECT_EQ(gateway_window(plan), kUsual) << "as without links";
}

}  // namespace
}  // namespace terrane::tools
