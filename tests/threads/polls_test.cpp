// Threads on several nodes that wait, in all ways, for words that others only store.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = POLLS_PROGRAM;

TEST(PollsTest, LoopsOfAllKindsSeeWhatOtherNodesStore) {
  expect_good("-n 1", kProgram);
  expect_good("-n 2 --placement 1", kProgram);
  expect_good("-n 3 --placement 1", kProgram);
}

TEST(PollsTest, TheySeeItWithEachWriteDetection) {
  expect_good("-n 3 --placement 1 --fault-source uffd-sync", kProgram);
  expect_good("-n 2 --placement 1 --fault-source sigsegv", kProgram);
}

TEST(PollsTest, TheySeeItByMessages) {
  expect_good("-n 2 --placement 1 --transport ucx", kProgram);
}

TEST(PollsTest, TheySeeItWhereLockedInstructionsAreTraps) {
  expect_good("-n 2 --placement 1 --atomics=trap", kProgram);
}

TEST(PollsTest, TheReportNamesThePagesThatLoopsWaitFor) {
  Outcome outcome = finish(threads("-n 2 --placement 1 --stats", kProgram + " sleep"));
  expect_good(outcome, "sleep");
  EXPECT_TRUE(std::regex_search(
      outcome.err, std::regex("synchronisation pages: .*words.* \\(a loop of another node")))
      << outcome.err;
}

TEST(PollsTest, AWordThatNobodyChangesIsLeftAlone) {
  Outcome outcome = finish(threads("-n 2 --placement 1 --stats", kProgram + " compute"));
  expect_good(outcome, "compute");
  EXPECT_EQ(outcome.err.find("constants"), std::string::npos) << outcome.err;
}

using PollsOnHosts = GoodOnHosts;

TEST_F(PollsOnHosts, LoopsOfAllKindsSeeWhatTheOtherHostStores) { expect_good_on_hosts(kProgram); }

}  // namespace
}  // namespace terrane::test_hosts
