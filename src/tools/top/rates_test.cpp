#include "tools/top/rates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools::top {
namespace {

using bootstrap::NodeSnapshot;

constexpr std::uint64_t kSecond = 1'000'000'000;

NodeView view_of(std::uint32_t node, const NodeSnapshot& snapshot) {
  return {.node = node,
          .host = fmt::format("h{}", node),
          .at_ns = snapshot.at_ns,
          .processor_ns = snapshot.at_ns / 2,
          .resident_bytes = 1000,
          .snapshot = bootstrap::encode_snapshot(snapshot)};
}

TEST(RatesTest, AreWhatCameSinceTheViewBefore) {
  NodeSnapshot before, now;
  before.at_ns = 5 * kSecond;
  before.read_faults = 100;
  before.lived_ns = 10 * kSecond;
  now = before;
  now.at_ns = 7 * kSecond;
  now.read_faults = 150;
  now.write_faults = 50;
  now.lived_ns += 4 * kSecond;  // two threads
  now.lock_ns = kSecond;
  now.threads = 2;
  now.limit_bytes = 100;
  now.kept_bytes = 70;
  JobRates job = rates_of({.nodes = {view_of(0, before)}}, {.nodes = {view_of(0, now)}});
  ASSERT_EQ(job.nodes.size(), 1u);
  const NodeRates& node = job.nodes[0];
  EXPECT_TRUE(node.answers);
  EXPECT_DOUBLE_EQ(node.page_faults, 50);
  EXPECT_DOUBLE_EQ(node.locks, 0.25);
  EXPECT_DOUBLE_EQ(node.computing, 0.75);
  EXPECT_DOUBLE_EQ(node.processors, 0.5);
  EXPECT_TRUE(node.has_limit);
  EXPECT_EQ(node.room, 30u);
}

TEST(RatesTest, OfANodeThatComesOrIsSilentAreNone) {
  NodeSnapshot now;
  now.at_ns = kSecond;
  NodeView silent{.node = 1, .host = "h1", .at_ns = kSecond};
  JobRates job = rates_of({.nodes = {silent}}, {.nodes = {view_of(0, now), silent}});
  ASSERT_EQ(job.nodes.size(), 2u);
  EXPECT_FALSE(job.nodes[0].answers);
  EXPECT_FALSE(job.nodes[1].answers);
}

TEST(RatesTest, EstimatesThatShrinkCountAsNothing) {
  NodeSnapshot before, now;
  before.at_ns = kSecond;
  before.lock_ns = 100;
  now.at_ns = 2 * kSecond;
  now.lived_ns = kSecond;
  now.lock_ns = 90;
  JobRates job = rates_of({.nodes = {view_of(0, before)}}, {.nodes = {view_of(0, now)}});
  EXPECT_EQ(job.nodes[0].locks, 0);
  EXPECT_EQ(job.nodes[0].computing, 1);
}

TEST(RatesTest, PagesOfAllNodesAreOneWithTheDearestNodeFirst) {
  NodeSnapshot one, other;
  one.recent_ns = 2 * kSecond;
  one.pages.push_back({7, 0x7000, "", {.faults = 10, .waited_ns = kSecond}, {}});
  one.pages.push_back({8, 0x8000, "cold", {.faults = 1}, {}});
  other.recent_ns = kSecond;
  other.pages.push_back({7, 0x7000, "counters", {.faults = 10, .waited_ns = kSecond}, {}});
  other.locks.push_back({3, "the lock m", {.acquires = 100, .remote = 50, .waited_ns = 0}, {}});
  JobRates job = rates_of({}, {.nodes = {view_of(0, one), view_of(1, other)}});
  ASSERT_EQ(job.pages.size(), 2u);
  EXPECT_EQ(job.pages[0].name, "counters");
  EXPECT_DOUBLE_EQ(job.pages[0].faults, 15);
  EXPECT_DOUBLE_EQ(job.pages[0].waited, 1.5);
  EXPECT_EQ(job.pages[0].nodes, (std::vector<std::uint32_t>{1, 0}));
  ASSERT_EQ(job.locks.size(), 1u);
  EXPECT_DOUBLE_EQ(job.locks[0].remote, 50);
}

TEST(RatesTest, AFirstSnapshotSaysNothingAboutNow) {
  NodeSnapshot first;
  first.locks.push_back({3, "the lock m", {.acquires = 1'000'000}, {.acquires = 1'000'000}});
  EXPECT_TRUE(rates_of({}, {.nodes = {view_of(0, first)}}).locks.empty());
}

}  // namespace
}  // namespace terrane::tools::top
