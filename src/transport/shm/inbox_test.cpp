#include "transport/shm/inbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "transport/shm/outbox.h"
#include "transport/shm/test_area.h"

namespace terrane::transport::shm {
namespace {

constexpr std::uint32_t kNodes = 100;
constexpr AreaShape kShape{kNodes, 4096};

struct Log final : Receiver {
  void received(NodeId from, Bytes) override { senders.push_back(from.value); }
  void lost(NodeId, std::string_view) override {}
  std::vector<std::uint32_t> senders;
};

// A receiver and a hundred senders to it, in one process.
class InboxTest : public ::testing::Test {
 protected:
  InboxTest() : area_(make_test_area(kShape)), inbox_(area_, kNodes) {
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      inbox_.add(area_.ring(NodeId{i}), senders_area_.control());
      senders_.emplace_back(1).add(area_.ring(NodeId{i}), area_.control(), NodeId{i});
    }
  }
  void send(std::uint32_t from) { senders_[from].send(NodeId{0}, {}, {}); }
  bool watched(std::uint32_t from) { return area_.ring(NodeId{from}).control->watched.load() != 0; }

  Area area_;
  Area senders_area_ = make_test_area(kShape);
  Inbox inbox_;
  std::deque<Outbox> senders_;
  Log log_;
};

TEST_F(InboxTest, EverySenderIsHeardHoweverManyThereAre) {
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t from = 0; from < kNodes; ++from) send(from);
    EXPECT_TRUE(inbox_.pending());
    EXPECT_EQ(inbox_.deliver(log_), kNodes);
    EXPECT_FALSE(inbox_.pending());
  }
}

TEST_F(InboxTest, ASilentSenderLosesItsWatchToATalkingOne) {
  for (std::uint32_t from = 0; from < 8; ++from) send(from);
  inbox_.deliver(log_);
  EXPECT_TRUE(watched(0));
  send(50);
  inbox_.deliver(log_);
  EXPECT_FALSE(watched(50)) << "nobody was silent for long";
  for (int i = 0; i < 2000; ++i) inbox_.deliver(log_);
  send(50);
  inbox_.deliver(log_);
  EXPECT_TRUE(watched(50));
  EXPECT_FALSE(watched(0));
  log_.senders.clear();
  send(0);
  send(50);
  EXPECT_EQ(inbox_.deliver(log_), 2u);
  EXPECT_EQ(log_.senders, (std::vector<std::uint32_t>{50, 0}));
}

TEST_F(InboxTest, OneSenderDoesNotKeepTheOthersWaiting) {
  // More small messages than one visit takes.
  for (int i = 0; i < 1000; ++i) send(3);
  send(4);
  inbox_.deliver(log_);
  EXPECT_EQ(std::count(log_.senders.begin(), log_.senders.end(), 4u), 1);
}

TEST_F(InboxTest, WhatOneVisitLeftIsPendingStill) {
  for (int i = 0; i < 63; ++i) send(3);
  // 4096 bytes hold 63 frames; the others wait in the sender's backlog.
  for (int i = 0; i < 100; ++i) send(3);
  std::size_t received = 0;
  for (int i = 0; i < 10; ++i) {
    received += inbox_.deliver(log_);
    senders_[3].advance();
  }
  EXPECT_EQ(received, 163u);
  EXPECT_FALSE(inbox_.pending());
}

TEST_F(InboxTest, AMalformedFrameClosesItsSenderAlone) {
  send(5);
  send(6);
  reinterpret_cast<Frame*>(area_.ring(NodeId{5}).data)->sequence = 77;
  EXPECT_EQ(inbox_.deliver(log_), 1u);
  ASSERT_TRUE(inbox_.has_broken());
  EXPECT_EQ(inbox_.take_broken(), std::vector{NodeId{5}});
  send(5);
  send(6);
  EXPECT_EQ(inbox_.deliver(log_), 1u);
  EXPECT_FALSE(inbox_.pending());
  EXPECT_FALSE(inbox_.has_broken());
}

TEST_F(InboxTest, TheLastMessagesOfADeadSenderAreDeliveredAndNothingLater) {
  send(7);
  EXPECT_EQ(inbox_.deliver(log_), 1u);
  send(7);
  EXPECT_EQ(inbox_.deliver_last(NodeId{7}, log_), 1u);
  send(7);
  EXPECT_EQ(inbox_.deliver(log_), 0u);
  EXPECT_FALSE(inbox_.pending());
}

}  // namespace
}  // namespace terrane::transport::shm
