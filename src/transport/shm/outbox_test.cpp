#include "transport/shm/outbox.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport/shm/ring_reader.h"
#include "transport/shm/test_area.h"

namespace terrane::transport::shm {
namespace {

constexpr AreaShape kShape{2, 4096};
constexpr NodeId kSelf{0};
constexpr NodeId kPeer{1};

// One node's way out to a peer whose reading the test does.
class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() {
    outbox_.add(own_.ring(kSelf), own_.control(), kSelf);
    outbox_.add(peer_.ring(kSelf), peer_.control(), kSelf);
  }
  void send(std::size_t bytes) {
    std::vector<std::byte> message(bytes, static_cast<std::byte>(next_++));
    outbox_.send(kPeer, message, {});
  }
  // The first bytes of the messages that the peer finds.
  std::vector<int> read_all() {
    std::vector<int> marks;
    for (;;) {
      RingReader::Found found = reader_.look();
      EXPECT_NE(found, RingReader::Found::kBroken);
      if (found == RingReader::Found::kNothing) break;
      if (found != RingReader::Found::kMessage) continue;
      marks.push_back(static_cast<int>(reader_.message()[0]));
      reader_.done();
    }
    reader_.free_space();
    return marks;
  }

  Area own_ = make_test_area(kShape);
  Area peer_ = make_test_area(kShape);
  Outbox outbox_{2};
  RingReader reader_{peer_.ring(kSelf), own_.control()};
  int next_ = 1;
};

TEST_F(OutboxTest, WhatDoesNotFitFollowsInOrder) {
  for (int i = 0; i < 5; ++i) send(1500);
  EXPECT_TRUE(outbox_.has_backlog());
  std::vector<int> marks;
  for (int i = 0; i < 5; ++i) {
    for (int mark : read_all()) marks.push_back(mark);
    outbox_.advance();
  }
  EXPECT_EQ(marks, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(outbox_.has_backlog());
}

TEST_F(OutboxTest, ALaterSmallMessageDoesNotOvertakeTheBacklog) {
  for (int i = 0; i < 3; ++i) send(1500);
  send(1);  // would fit behind the second
  EXPECT_EQ(read_all(), (std::vector<int>{1, 2}));
  outbox_.advance();
  EXPECT_EQ(read_all(), (std::vector<int>{3, 4}));
}

TEST_F(OutboxTest, SendingMovesTheBacklogOn) {
  for (int i = 0; i < 3; ++i) send(1500);
  read_all();
  send(1);
  EXPECT_EQ(read_all(), (std::vector<int>{3, 4}));
}

TEST_F(OutboxTest, AMessageLongerThanTheRingGoesInPieces) {
  send(20'000);
  send(10);
  std::vector<int> marks;
  for (int i = 0; i < 20 && marks.size() < 2; ++i) {
    for (int mark : read_all()) marks.push_back(mark);
    outbox_.advance();
  }
  EXPECT_EQ(marks, (std::vector<int>{1, 2}));
}

TEST_F(OutboxTest, ItKnowsWhenAdvancingHelps) {
  for (int i = 0; i < 3; ++i) send(1500);
  EXPECT_FALSE(outbox_.can_advance());
  read_all();
  EXPECT_TRUE(outbox_.can_advance());
  outbox_.advance();
  EXPECT_FALSE(outbox_.can_advance());
}

TEST_F(OutboxTest, NothingIsKeptForALostPeer) {
  for (int i = 0; i < 5; ++i) send(1500);
  outbox_.drop(kPeer);
  EXPECT_FALSE(outbox_.has_backlog());
  for (int i = 0; i < 5; ++i) send(1500);
  EXPECT_FALSE(outbox_.has_backlog());
  read_all();
  EXPECT_FALSE(outbox_.can_advance());
}

}  // namespace
}  // namespace terrane::transport::shm
