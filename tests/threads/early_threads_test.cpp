// Threads that constructors of libraries start before main.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = EARLY_PROGRAM;
constexpr const char* kSetUps[] = {"-n 1",
                                   "-n 2 --placement 1",
                                   "-n 3",
                                   "-n 2 --placement 1 --fault-source uffd-sync",
                                   "-n 2 --placement 1 --fault-source sigsegv",
                                   "-n 2 --placement 1 --transport ucx"};

TEST(EarlyThreadsTest, TheyAreThreadsOfTheProgram) {
  for (const char* options : kSetUps) expect_good(options, kProgram + " asked");
}

TEST(EarlyThreadsTest, ALibraryOfEachNodeComputesThereWithItsOwnThreads) {
  for (const char* options : kSetUps) {
    expect_good(options, kProgram + " sums");
    expect_good(options, kProgram + " sums " + NODE_LIBRARY);
  }
}

// A thread that yields at once has not waited since the machine's start.
TEST(EarlyThreadsTest, PatienceCountsFromTheFirstYield) {
  Outcome outcome = finish(threads("-n 2 --placement 1 --patience 60", kProgram + " sums"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

using EarlyThreadsOnHosts = GoodOnHosts;

TEST_F(EarlyThreadsOnHosts, TheyAreThreadsOfTheProgram) {
  expect_good_on_hosts(kProgram + " asked");
}

}  // namespace
}  // namespace terrane::test_hosts
