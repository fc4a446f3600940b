#include "tools/launch/hub/exchange_state.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

TEST(ExchangeStateTest, NobodyIsMissedWhileAllMayStillCome) {
  ExchangeState state(2);
  state.waits(0);
  EXPECT_FALSE(state.obstacle());
  state.waits(1);
  state.ended(1);
  EXPECT_FALSE(state.obstacle());
}

TEST(ExchangeStateTest, WhoEndedOrLeftIsNamedWithWhoWaits) {
  ExchangeState state(2);
  state.waits(0);
  state.ended(1);
  ASSERT_TRUE(state.obstacle());
  EXPECT_EQ(state.obstacle()->find("node 1 of 2 has ended without joining the job, while node 0 "
                                   "waits for it"),
            0u);
  ExchangeState leaving(2);
  leaving.waits(0);
  leaving.left(1);
  EXPECT_FALSE(leaving.obstacle()) << "it may come back";
  leaving.ended(1);
  EXPECT_NE(leaving.obstacle()->find("has left the job already"), std::string::npos);
}

TEST(ExchangeStateTest, WhoHasNotComeYetIsNamed) {
  ExchangeState state(3);
  EXPECT_FALSE(state.absence());
  state.waits(1);
  EXPECT_EQ(state.absence(),
            "nodes 0 and 2 of 3 have not joined the job, and node 1 waits for them");
  state.waits(0);
  EXPECT_EQ(state.absence(), "node 2 of 3 has not joined the job, and nodes 0 and 1 wait for it");
  state.waits(2);
  EXPECT_FALSE(state.absence());
  state.done();
  EXPECT_FALSE(state.absence());
}

TEST(ExchangeStateTest, AnExchangeThatEndedBlamesNobodyAfterwards) {
  ExchangeState state(2);
  state.waits(0);
  state.waits(1);
  state.done();
  state.ended(1);
  EXPECT_FALSE(state.obstacle());
}

TEST(ExchangeStateTest, ManyNodesAreNamedInPart) {
  ExchangeState state(64);
  state.waits(0);
  for (std::uint32_t node = 1; node < 64; ++node) state.ended(node);
  EXPECT_EQ(state.obstacle()->find("nodes 1, 2, 3, 4, 5, 6, 7, 8 and 55 more of 64 have ended"),
            0u);
}

}  // namespace
}  // namespace terrane::tools
