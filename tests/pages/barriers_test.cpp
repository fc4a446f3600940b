// Barriers that are held in memory, and of two nodes that reach each other by messages, on real
// processes.
#include <gtest/gtest.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

void expect_good(int nodes, const std::string& mode, std::vector<std::string> environment) {
  Launched::Options options;
  options.environment = std::move(environment);
  Launched job({kTerrane, "run", "-n", std::to_string(nodes), BARRIERS_PROGRAM, mode},
               std::move(options));
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.out << outcome.err;
}

// A node that never sleeps never withdraws from a round.
TEST(BarriersTest, SendNothingWhereThereIsNothingToTell) {
  for (int nodes : {2, 5}) expect_good(nodes, "held", {"TERRANE_WAIT=spin"});
}

TEST(BarriersTest, BringTwoNodesWhatTheyReadAfterEach) {
  expect_good(2, "along", {"TERRANE_ONE_SIDED=0"});
}

TEST(BarriersTest, BringTwoNodesEachOthersRowsFromTheSecondTimeOn) {
  expect_good(2, "rows", {"TERRANE_ONE_SIDED=0"});
}

TEST(BarriersTest, BringOneRegionAfterTheOtherOnceARound) {
  expect_good(2, "regions", {"TERRANE_ONE_SIDED=0"});
}

// Over shared memory, and over a network.
TEST(BarriersTest, WakeNoHandlerOfWhoComesLate) {
  for (const char* transport : {"shm", "ucx"})
    expect_good(2, "late", {"TERRANE_WAIT=spin", std::string("TERRANE_TRANSPORT=") + transport});
}

TEST(BarriersTest, BringManyReadersWhatOneWrites) {
  expect_good(8, "readers", {"TERRANE_ONE_SIDED=0"});
}

// Copies of what was freed die at the barrier, while its home gives the pages back.
TEST(BarriersTest, FollowARegionThatWasFreed) {
  for (int nodes : {2, 4}) expect_good(nodes, "freed", {});
}

class MixedBarriersTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Waits, MixedBarriersTest,
                         testing::Values("TERRANE_WAIT=auto", "TERRANE_WAIT=spin",
                                         "TERRANE_WAIT=sleep", "TERRANE_ONE_SIDED=0"),
                         [](const auto& info) {
                           std::string name = info.param;
                           return name.substr(8, name.find('=') - 8) +
                                  name.substr(name.find('=') + 1);
                         });

TEST_P(MixedBarriersTest, BringWhatThereIsToTell) {
  for (int nodes : {2, 3}) expect_good(nodes, "mixed", {GetParam()});
}
TEST_P(MixedBarriersTest, AreForSomeThreadsOrAll) {
  for (int nodes : {2, 3}) expect_good(nodes, "threads", {GetParam()});
}

}  // namespace
}  // namespace terrane::cluster_test
