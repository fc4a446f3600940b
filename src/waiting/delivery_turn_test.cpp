#include "waiting/delivery_turn.h"

#include <gtest/gtest.h>

namespace terrane::waiting {
namespace {

TEST(DeliveryTurnTest, IsOneThreadsAtATime) {
  DeliveryTurn turn;
  EXPECT_TRUE(turn.try_begin());
  EXPECT_FALSE(turn.try_begin());
  EXPECT_TRUE(turn.end());
  EXPECT_TRUE(turn.try_begin());
}

TEST(DeliveryTurnTest, DoesNotEndWhileSomethingIsLeft) {
  DeliveryTurn turn;
  ASSERT_TRUE(turn.try_begin());
  EXPECT_TRUE(turn.leave_to_deliverer());
  EXPECT_TRUE(turn.leave_to_deliverer());
  EXPECT_FALSE(turn.try_begin());
  EXPECT_FALSE(turn.end());
  EXPECT_TRUE(turn.end());
}

TEST(DeliveryTurnTest, TakesNothingWhereNobodyDelivers) {
  DeliveryTurn turn;
  EXPECT_FALSE(turn.leave_to_deliverer());
  ASSERT_TRUE(turn.try_begin());
  EXPECT_TRUE(turn.end());
  EXPECT_FALSE(turn.leave_to_deliverer());
}

}  // namespace
}  // namespace terrane::waiting
