#include "protocol/core/expiry.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr WaiterId kWaiter{3};

class ExpiryTest : public testing::Test {
 protected:
  void begin(TestJob& job, std::uint32_t node) {
    job.step(node, ExpireCopies{&ranges_, kWaiter});
    job.deliver_all();
  }
  // Each node that got the expiry answers, in the order in which they got it.
  void answer(TestJob& job) {
    auto told = std::move(job.expires);
    job.expires.clear();
    for (auto [node, expire] : told) job.step(node, Expired{expire.origin, expire.waiter});
    job.deliver_all();
  }

  std::vector<BlockRange> ranges_{{3, 2}, {9, 1}};
};

TEST_F(ExpiryTest, EveryOtherNodeIsToldOnceAndAllAnswersAreAwaited) {
  for (std::uint32_t nodes : {2u, 5u, 6u, 23u}) {
    TestJob job(nodes);
    begin(job, 1);
    std::vector<std::uint32_t> told(nodes, 0);
    for (auto [node, expire] : job.expires) {
      ++told[node];
      EXPECT_EQ(expire.origin, NodeId{1});
      EXPECT_EQ(expire.size, 2 * sizeof(BlockRange));
    }
    for (std::uint32_t n = 0; n < nodes; ++n) EXPECT_EQ(told[n], n == 1 ? 0u : 1u);
    auto last = job.expires.back();
    job.expires.pop_back();
    answer(job);
    EXPECT_FALSE(job.was_resumed(kWaiter.value));
    job.step(last.first, Expired{last.second.origin, last.second.waiter});
    job.deliver_all();
    EXPECT_TRUE(job.was_resumed(kWaiter.value));
    EXPECT_EQ(job.malformed, 0);
  }
}

TEST_F(ExpiryTest, RoundsOfSeveralNodesDoNotDisturbEachOther) {
  TestJob job(6);
  job.step(0, ExpireCopies{&ranges_, WaiterId{1}});
  job.step(4, ExpireCopies{&ranges_, WaiterId{2}});
  job.deliver_all();
  EXPECT_EQ(job.expires.size(), 10u);
  answer(job);
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_TRUE(job.was_resumed(2));
}

TEST_F(ExpiryTest, ANodeAloneHasNobodyToTell) {
  TestJob job(1);
  begin(job, 0);
  EXPECT_TRUE(job.was_resumed(kWaiter.value));
}

TEST_F(ExpiryTest, MessagesThatNoNodeSendsAreRefused) {
  TestJob job(6, 64);
  auto send = [&](std::uint32_t to, std::uint32_t from, const wire::Expire& head,
                  std::vector<BlockRange> ranges) {
    std::vector<std::byte> bytes;
    wire::put(bytes, head);
    for (const BlockRange& range : ranges) wire::put(bytes, range);
    int before = job.malformed;
    job.step(to, Received{NodeId{from}, bytes});
    EXPECT_EQ(job.malformed, before + 1);
  };
  send(1, 2, {.origin = 0}, {{1, 1}});   // not from its parent
  send(1, 0, {.origin = 7}, {{1, 1}});   // no such node
  send(1, 0, {.origin = 1}, {{1, 1}});   // itself
  send(1, 0, {.origin = 0}, {});         // nothing
  send(1, 0, {.origin = 0}, {{60, 5}});  // beyond the space
  send(1, 0, {.origin = 0}, {{60, 0}});
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::Expired{.origin = 0, .waiter = 9});  // no thread waits for it
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 7);
  begin(job, 0);
  bytes.clear();
  wire::put(bytes, wire::Expired{.origin = 0, .waiter = kWaiter.value});
  job.step(0, Received{NodeId{5}, bytes});  // a child of node 1
  EXPECT_EQ(job.malformed, 8);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 8);
  job.step(0, Received{NodeId{1}, bytes});  // a second time
  EXPECT_EQ(job.malformed, 9);
}

}  // namespace
}  // namespace terrane::protocol
