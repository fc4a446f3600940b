#include "protocol/core/offer_requests.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr WaiterId kWaiter{3};

TEST(OfferRequestsTest, TheHomeIsAskedAndItsAnswerResumes) {
  TestJob job(3);
  job.step(2, AskOffer{NodeId{1}, {8, 5}, OfferWish::kWrites, kWaiter});
  job.deliver_all();
  ASSERT_EQ(job.offers.size(), 1u);
  auto [node, offer] = job.offers.front();
  EXPECT_EQ(node, 1u);
  EXPECT_EQ(offer.to, NodeId{2});
  EXPECT_EQ(offer.run.first, 8u);
  EXPECT_EQ(offer.run.count, 5u);
  EXPECT_FALSE(job.was_resumed(kWaiter.value));
  job.step(1, OfferMade{offer.to, offer.waiter, 4});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(kWaiter.value));
  EXPECT_EQ(job.resumed.at(kWaiter.value).value, 4u);
}

TEST(OfferRequestsTest, WhereNobodyWaitsNothingIsAnswered) {
  TestJob job(3);
  for (std::uint64_t block : {8, 16}) {  // several such requests may be under way
    job.step(2, AskOffer{NodeId{1}, {block, 5}, OfferWish::kReads, kNobody});
    job.deliver_all();
  }
  ASSERT_EQ(job.offers.size(), 2u);
  auto [node, offer] = job.offers.front();
  EXPECT_EQ(offer.wish, OfferWish::kReads);
  job.messages.clear();
  job.step(1, OfferMade{offer.to, offer.waiter, 4});
  EXPECT_TRUE(job.messages.empty());
}

TEST(OfferRequestsTest, WhatNobodyAskedForOrLiesOutsideIsMalformed) {
  TestJob job(3, 4096);
  auto receive = [&](std::uint32_t node, std::uint32_t from, const auto& message) {
    int before = job.malformed;
    job.step(node, Received{NodeId{from}, std::as_bytes(std::span(&message, 1))});
    return job.malformed > before;
  };
  EXPECT_TRUE(receive(0, 1, wire::OfferReply{.waiter = kWaiter.value, .blocks = 1}));
  EXPECT_TRUE(receive(0, 1, wire::OfferRequest{.waiter = 1, .first = 0, .blocks = 0}));
  EXPECT_TRUE(receive(0, 1, wire::OfferRequest{.waiter = 1, .first = ~0ull, .blocks = 1}));
  EXPECT_TRUE(receive(0, 1, wire::OfferRequest{.waiter = 1, .first = 1, .blocks = ~0ull}));
  EXPECT_TRUE(receive(0, 1, wire::OfferRequest{.waiter = 1, .first = 0, .blocks = 1025}));
  EXPECT_FALSE(receive(0, 1, wire::OfferRequest{.waiter = 1, .first = 0, .blocks = 1}));
  job.step(0, AskOffer{NodeId{1}, {8, 5}, OfferWish::kWrites, kWaiter});
  EXPECT_TRUE(receive(0, 2, wire::OfferReply{.waiter = kWaiter.value, .blocks = 1}));
  EXPECT_FALSE(receive(0, 1, wire::OfferReply{.waiter = kWaiter.value, .blocks = 1}));
}

}  // namespace
}  // namespace terrane::protocol
