#include "protocol/core/adoption_requests.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr WaiterId kWaiter{3};

TEST(AdoptionRequestsTest, TheNodeWithRoomIsAskedAndItsAnswerResumes) {
  TestJob job(3);
  job.step(2, AskAdoption{NodeId{1}, {8, 5}, true, kWaiter});
  EXPECT_EQ(job.core(2).rooms().under_way(), 5u);
  job.deliver_all();
  ASSERT_EQ(job.adopts.size(), 1u);
  auto [node, adopt] = job.adopts.front();
  EXPECT_EQ(node, 1u);
  EXPECT_EQ(adopt.from, NodeId{2});
  EXPECT_EQ(adopt.run, (BlockRange{8, 5}));
  EXPECT_TRUE(adopt.presses);
  EXPECT_FALSE(job.was_resumed(kWaiter.value));
  job.step(1, AdoptionMade{adopt.from, adopt.waiter, 5, 4, 17});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(kWaiter.value));
  EXPECT_EQ(job.resumed.at(kWaiter.value).value, 4u);
  EXPECT_EQ(job.core(2).rooms().of(NodeId{1}), 17u);
  EXPECT_EQ(job.core(2).rooms().of(NodeId{0}), NodeRooms::kWhole);
  EXPECT_EQ(job.core(2).rooms().under_way(), 0u);
  EXPECT_EQ(job.core(2).rooms().given(), 4u);
}

TEST(AdoptionRequestsTest, WhereNobodyWaitsTheRoomIsLearned) {
  TestJob job(3);
  for (std::uint64_t block : {8, 16}) {  // several such requests may be under way
    job.step(2, AskAdoption{NodeId{1}, {block, 5}, false, kNobody});
    job.deliver_all();
  }
  ASSERT_EQ(job.adopts.size(), 2u);
  EXPECT_EQ(job.core(2).rooms().under_way(), 10u);
  job.step(1, AdoptionMade{NodeId{2}, kNobody, 5, 0, 0});
  job.deliver_all();
  EXPECT_EQ(job.core(2).rooms().of(NodeId{1}), 0u);
  EXPECT_EQ(job.core(2).rooms().under_way(), 5u);
  EXPECT_EQ(job.malformed, 0);
}

// A node that adopts asks the former home for offers, so that node must not leave before.
TEST(AdoptionRequestsTest, WhoAwaitsAllIsResumedByTheLastAnswer) {
  TestJob job(3);
  job.step(2, AwaitAdoptions{kWaiter});
  EXPECT_TRUE(job.was_resumed(kWaiter.value));  // nothing is under way
  job.resumed.clear();
  for (std::uint32_t node : {0, 1}) job.step(2, AskAdoption{NodeId{node}, {8, 5}, false, kNobody});
  job.step(2, AwaitAdoptions{kWaiter});
  job.deliver_all();
  job.step(0, AdoptionMade{NodeId{2}, kNobody, 5, 5, 32});
  job.deliver_all();
  EXPECT_FALSE(job.was_resumed(kWaiter.value));
  job.step(1, AdoptionMade{NodeId{2}, kNobody, 5, 0, 0});
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(kWaiter.value));
}

TEST(AdoptionRequestsTest, WhatNobodyAskedForOrLiesOutsideIsMalformed) {
  TestJob job(3, 4096);
  auto receive = [&](std::uint32_t node, std::uint32_t from, const auto& message) {
    int before = job.malformed;
    job.step(node, Received{NodeId{from}, std::as_bytes(std::span(&message, 1))});
    return job.malformed > before;
  };
  using Request = wire::AdoptRequest;
  using Reply = wire::AdoptReply;
  EXPECT_TRUE(receive(0, 1, Reply{.waiter = kWaiter.value, .blocks = 1}));
  EXPECT_TRUE(receive(0, 1, Reply{.waiter = kNobody.value, .blocks = 1}));
  EXPECT_TRUE(receive(0, 1, Request{.waiter = 1, .first = 0, .blocks = 0}));
  EXPECT_TRUE(receive(0, 1, Request{.waiter = 1, .first = ~0ull, .blocks = 1}));
  EXPECT_TRUE(receive(0, 1, Request{.waiter = 1, .first = 1, .blocks = ~0ull}));
  EXPECT_TRUE(receive(0, 1, Request{.waiter = 1, .first = 0, .blocks = wire::kMostAdopted + 1}));
  EXPECT_TRUE(receive(0, 1, Request{.presses = 2, .waiter = 1, .first = 0, .blocks = 1}));
  EXPECT_FALSE(receive(0, 1, Request{.waiter = 1, .first = 0, .blocks = 1}));
  job.step(0, AskAdoption{NodeId{1}, {8, 5}, false, kWaiter});
  EXPECT_TRUE(receive(0, 2, Reply{.waiter = kWaiter.value, .blocks = 5}));
  EXPECT_TRUE(receive(0, 1, Reply{.waiter = kWaiter.value, .blocks = 4}));
  EXPECT_TRUE(receive(0, 1, Reply{.waiter = kWaiter.value, .blocks = 5, .taken = 6}));
  EXPECT_TRUE(receive(0, 1, Reply{.room = 65, .waiter = kWaiter.value, .blocks = 5}));
  EXPECT_FALSE(receive(0, 1, Reply{.waiter = kWaiter.value, .blocks = 5, .taken = 5}));
}

}  // namespace
}  // namespace terrane::protocol
