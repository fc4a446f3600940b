// Handlers that end subscriptions, and that wait for other handlers.
#include <gtest/gtest.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

void expect_good(const std::string& nodes, std::vector<std::string> environment = {}) {
  Launched job({kTerrane, "run", "-n", nodes, HANDLERS_PROGRAM},
               {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << "a handler hangs";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), std::stoi(nodes)) << outcome.err;
}

TEST(ChunkHandlersTest, MayEndTheirSubscriptionAndWaitForEachOther) {
  for (const char* nodes : {"1", "2", "3"}) expect_good(nodes);
}

TEST(ChunkHandlersTest, MayDoSoBetweenNodesThatExchangeMessages) {
  expect_good("3", {"TERRANE_ONE_SIDED=0"});
}

TEST(ChunkHandlersTest, MayDoSoHoweverThreadsWait) {
  for (const char* how : {"TERRANE_WAIT=sleep", "TERRANE_WAIT=spin"}) expect_good("2", {how});
}

}  // namespace
}  // namespace terrane::cluster_test
