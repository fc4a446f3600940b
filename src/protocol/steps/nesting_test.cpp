#include "protocol/steps/nesting.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

// A campaign with random predictions found the deadlock once in 1.6 million histories: a thread
// that waited for a barrier exit made an eager release, which waited for a thread that waited for
// the pushes of that exit.
TEST(NestingTest, AThreadThatOwesPushesMakesNoRelease) {
  Nesting nesting;
  nesting.wait_for(BarrierEnter{});
  EXPECT_TRUE(nesting.may_release());
  nesting.wait_for(BarrierArrive{});
  EXPECT_FALSE(nesting.may_release());
  EXPECT_TRUE(nesting.may_serve());
  EXPECT_TRUE(nesting.holds_nothing);
  nesting.go_on();
  EXPECT_FALSE(nesting.may_release());
  nesting.wait_for(LockAcquire{});
  EXPECT_TRUE(nesting.may_release());
}

}  // namespace
}  // namespace terrane::protocol
