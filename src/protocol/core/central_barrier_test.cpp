#include "protocol/core/central_barrier.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

using Round = CentralBarrier::Round;

TEST(CentralBarrierTest, IsHeldWhenAllHaveComeWithNothingToTell) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 3);
  for (int times = 0; times < 3; ++times) {
    std::uint64_t round = barrier.come(7);
    EXPECT_EQ(barrier.look(round), Round::kOpen);
    EXPECT_EQ(barrier.come(7), round);
    EXPECT_EQ(barrier.look(round), Round::kOpen);
    EXPECT_EQ(barrier.come(7), round);
    EXPECT_EQ(barrier.look(round), Round::kHeld);
  }
}

TEST(CentralBarrierTest, IsOffAsSoonAsOneHasSomethingToTell) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 3);
  std::uint64_t round = barrier.come(7);
  barrier.come(std::nullopt);
  EXPECT_EQ(barrier.look(round), Round::kOff);
  barrier.come(7);
  EXPECT_EQ(barrier.look(round), Round::kOff);
  std::uint64_t next = barrier.come(7);
  EXPECT_NE(next, round);
  EXPECT_EQ(barrier.look(next), Round::kOpen);  // whatever the round before was
}

TEST(CentralBarrierTest, IsOffWhereTheLastHasSomethingToTell) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 2);
  std::uint64_t round = barrier.come(7);
  barrier.come(std::nullopt);
  EXPECT_EQ(barrier.look(round), Round::kOff);
}

TEST(CentralBarrierTest, IsOffWhereNodesHaveNotLearnedTheSame) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 2);
  std::uint64_t round = barrier.come(7);
  barrier.come(8);
  EXPECT_EQ(barrier.look(round), Round::kOff);
  round = barrier.come(0);
  barrier.come(0);
  EXPECT_EQ(barrier.look(round), Round::kHeld);
}

TEST(CentralBarrierTest, WhoWithdrawsPutsItOffUnlessItWasHeld) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 2);
  std::uint64_t round = barrier.come(1);
  EXPECT_EQ(barrier.withdraw(round), Round::kOff);
  barrier.come(1);
  EXPECT_EQ(barrier.look(round), Round::kOff);
  round = barrier.come(1);
  barrier.come(1);
  EXPECT_EQ(barrier.withdraw(round), Round::kHeld);
}

TEST(CentralBarrierTest, OneNodeSeesTheOthersComeBeforeItComes) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 3);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(barrier.others(7), Round::kOpen);
    barrier.come(7);
    EXPECT_EQ(barrier.others(7), Round::kOpen);
    std::uint64_t round = barrier.come(7);
    EXPECT_EQ(barrier.others(7), Round::kHeld);
    EXPECT_EQ(barrier.others(8), Round::kOff) << "it has learned more than they";
    EXPECT_EQ(barrier.look(round), Round::kOpen) << "they wait for it";
    barrier.come(7);
    EXPECT_EQ(barrier.look(round), Round::kHeld);
  }
}

TEST(CentralBarrierTest, WhoGivesUpTheOthersPutsTheRoundOff) {
  CentralBarrier::Word word{0};
  CentralBarrier barrier(word, 2);
  EXPECT_EQ(barrier.give_up_others(1), Round::kOff);
  std::uint64_t round = barrier.come(1);
  EXPECT_EQ(barrier.look(round), Round::kOff);
  barrier.come(1);
  barrier.come(1);
  EXPECT_EQ(barrier.give_up_others(1), Round::kHeld);
}

TEST(CentralBarrierTest, WorksForTheMostNodesAndWhenRoundsWrapAround) {
  CentralBarrier::Word word{~std::uint64_t{0} << 42};  // the last number of a round
  CentralBarrier barrier(word, CentralBarrier::kMostNodes);
  for (int times = 0; times < 2; ++times) {
    std::uint64_t round = barrier.come(~0u);
    for (std::uint32_t n = 1; n < CentralBarrier::kMostNodes; ++n) barrier.come(~0u);
    EXPECT_EQ(barrier.look(round), Round::kHeld);
    EXPECT_EQ(word.load() & 0xffffffff, 0u);
  }
}

}  // namespace
}  // namespace terrane::protocol
