// The pages interface on real processes: what works, and how bad input is answered.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

Outcome run_program(int nodes, const std::string& program, const std::string& mode,
                    std::vector<std::string> environment = {},
                    std::function<void()> before_exec = {}) {
  Launched::Options options;
  options.environment = std::move(environment);
  options.before_exec = std::move(before_exec);
  Launched job({kTerrane, "run", "-n", std::to_string(nodes), program, mode}, std::move(options));
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << program << " " << mode << " hangs";
  EXPECT_GE(job.ms_until_all_gone(), 0) << mode << " leaves processes behind";
  return outcome;
}

Outcome run_pages(int nodes, const std::string& mode, std::vector<std::string> environment = {},
                  std::function<void()> before_exec = {}) {
  return run_program(nodes, PAGES_PROGRAM, mode, std::move(environment), std::move(before_exec));
}

void expect_good(int nodes, const std::string& program, const std::string& mode,
                 std::vector<std::string> environment) {
  Outcome outcome = run_program(nodes, program, mode, std::move(environment));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.out << outcome.err;
}

void expect_good(int nodes, const std::string& mode, std::vector<std::string> environment = {}) {
  expect_good(nodes, PAGES_PROGRAM, mode, std::move(environment));
}

class PagesTest : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> environment(std::vector<std::string> more = {}) const {
    more.push_back(std::string("TERRANE_FAULT_SOURCE=") + GetParam());
    return more;
  }
};
INSTANTIATE_TEST_SUITE_P(FaultSources, PagesTest, every_fault_source(), fault_source_name);

TEST_P(PagesTest, AnyNodeAllocatesWritesAndFrees) {
  for (int nodes : {1, 2, 4, 8}) expect_good(nodes, "basics", environment());
}
TEST_P(PagesTest, HomesFollowThePolicy) { expect_good(3, "homes", environment()); }
TEST_P(PagesTest, HomesFollowTheirWriters) {
  for (int nodes : {2, 4}) expect_good(nodes, "writers", environment());
  expect_good(3, "writers", environment({"TERRANE_MIGRATE=0"}));
}
TEST_P(PagesTest, CopiesThatNobodyWritesAreKept) { expect_good(2, "tracking", environment()); }
TEST_P(PagesTest, SeveralThreadsOfANodeShareLocksAndBarriers) {
  expect_good(3, "threads", environment());
}
TEST_P(PagesTest, ThreadsOfAnyNodeWaitForEachOther) {
  for (const char* mode : {"semaphores", "conditions", "flags", "reductions"})
    for (int nodes : {1, 3}) expect_good(nodes, mode, environment());
}
TEST_P(PagesTest, TouchedPagesServeSystemCalls) { expect_good(2, "touch", environment()); }
TEST(PagesByMessagesTest, NothingNeedsAPeersMemory) {
  for (const char* mode : {"basics", "homes", "writers", "tracking", "threads", "semaphores",
                           "conditions", "flags", "reductions", "touch", "evict"})
    expect_good(3, mode, {"TERRANE_ONE_SIDED=0"});
}
TEST_P(PagesTest, RegionsWithSequentialConsistencyAreOneMemory) {
  for (int nodes : {1, 2, 3}) expect_good(nodes, SEQUENTIAL_PROGRAM, "", environment());
  expect_good(2, SEQUENTIAL_PROGRAM, "", environment({"TERRANE_ONE_SIDED=0"}));
}
TEST_P(PagesTest, EvictionLosesNothing) { expect_good(2, "evict", environment()); }
TEST_P(PagesTest, CopiesBeyondTheLimitComeAndGo) {
  expect_good(2, "crowded", environment({"TERRANE_MEMORY=24M"}));
}
TEST_P(PagesTest, ANodeThatWaitsMakesRoomForWhatOthersStore) {
  for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"})
    expect_good(2, "passive", environment({"TERRANE_MEMORY=8M", one_sided}));
}
TEST_P(PagesTest, WhatHasMovedLeavesNothingBehind) {
  for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"})
    expect_good(3, "moved", environment({"TERRANE_MEMORY=8M", one_sided}));
}
TEST_P(PagesTest, LargerUnitsWork) {
  for (const char* unit : {"TERRANE_UNIT=16K", "TERRANE_UNIT=64K"})
    expect_good(3, "basics", environment({unit}));
}
TEST_P(PagesTest, MisuseIsToldAndDoesNoHarm) { expect_good(2, "misuse", environment()); }

TEST(PagesAloneTest, AProgramWithoutTheLauncherIsAJobOfOne) {
  Launched alone({PAGES_PROGRAM, "basics"});
  Outcome outcome = alone.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "good\n");
}

// In this job somebody stays away until each of `sentences` has been said.
void expect_told(const std::string& mode, const std::vector<std::string>& sentences) {
  Outcome outcome =
      run_until_said({"-n", "3", "--patience", "0.2", PAGES_PROGRAM, mode}, sentences);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(count(outcome.out, "good"), 3) << outcome.out;
}

TEST(PagesWaitTest, WhoWaitsLongSaysForWhat) {
  expect_told("absent", {"in barrier 3: no word from node 1: it has not come"});
  expect_told("alone", {"in barrier 4: 1 of 2 threads of this node have come",
                        "in barrier 4: no word from node 1"});
  expect_told("holder", {"has held lock 12 for", "and node ", "s for lock 12"});
  expect_told("unsignalled", {"s for counter 5 to be at least 7", "s for a unit of semaphore 6",
                              "s for flag 7 to be set", "s for a signal of condition 9"});
  Outcome outcome = run_until_said({"-n", "3", "--heartbeat", "30", "--patience", "0.2", "env",
                                    "TERRANE_ONE_SIDED=0", PAGES_PROGRAM, "stopped"},
                                   {"s for an answer about pages from node 1"});
  EXPECT_EQ(count(outcome.out, "good"), 3) << outcome.out;
}

TEST(PagesBadInputTest, AThreadThatEndsWithALockEndsTheJob) {
  Outcome outcome = run_pages(3, "forgetful");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err,
                  "ended while it held lock 77: it must give the lock back by "
                  "terrane_unlock"),
            1)
      << outcome.err;
}

TEST(PagesBadInputTest, PatienceIsANumberOfSeconds) {
  Outcome outcome =
      Launched({kTerrane, "run", "--patience", "soon", PAGES_PROGRAM, "basics"}).finish();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(count(outcome.err, "--patience soon: must be a number of seconds"), 1) << outcome.err;
  outcome = run_pages(1, "basics", {"TERRANE_PATIENCE=soon"});
  EXPECT_EQ(count(outcome.err, "TERRANE_PATIENCE=soon: a number of seconds"), 1) << outcome.err;
}

TEST(PagesBadInputTest, CallsBeforeInitAreRefused) {
  Outcome outcome = run_pages(2, "early");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(PagesBadInputTest, CollectiveAllocationsThatDifferAreTold) {
  Outcome outcome = run_pages(2, "mismatch");
  EXPECT_EQ(count(outcome.err, "all nodes must make the same calls"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "got memory"), 1) << outcome.err;
}

TEST(PagesBadInputTest, AnAddressOutsideAnyAllocationEndsTheJobWithASentence) {
  const std::pair<const char*, const char*> kCases[] = {{"foreign", "in no allocation"},
                                                        {"freed", "that was freed"}};
  for (auto [mode, sentence] : kCases) {
    Outcome outcome = run_pages(2, mode);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << mode << outcome.err;
    EXPECT_NE(outcome.err.find("node 1"), std::string::npos) << mode << outcome.err;
    EXPECT_EQ(outcome.out.find("good"), std::string::npos);
  }
}

TEST(PagesBadInputTest, MemoryExhaustedOnOneNodeEndsTheJobWithASentence) {
  Outcome outcome = run_pages(2, "exhausted", {"TERRANE_MEMORY=8M"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("out of memory for shared page"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("MiB of pages whose home it is and may keep 8 MiB"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("node 1 ("), std::string::npos) << outcome.err;
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
}

TEST(PagesBadInputTest, MemoryExhaustedByOthersWritesIsToldToo) {
  for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"}) {
    Outcome outcome = run_pages(2, "filled-by-others", {"TERRANE_MEMORY=8M", one_sided});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "out of memory for shared page"), 1) << outcome.err;
    EXPECT_GE(count(outcome.err, ": node 1 ("), 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
  }
}

TEST(PagesBadInputTest, WhatNoNodesCouldHoldIsRefused) {
  expect_good(2, "refused", {"TERRANE_MEMORY=8M"});
}

TEST(PagesDeniedTest, WithoutUserfaultfdTheOtherSourceIsTaken) {
  if (!is_root()) GTEST_SKIP() << "root alone can give up its right to userfaultfd";
  expect_good(2, "denied");
  expect_good(2, "denied", {"TERRANE_FAULT_SOURCE=sigsegv"});
}

TEST(PagesDeniedTest, UserfaultfdAskedForByNameAndDeniedIsTold) {
  if (!is_root()) GTEST_SKIP() << "root alone can give up its right to userfaultfd";
  Outcome outcome = run_pages(2, "denied", {"TERRANE_FAULT_SOURCE=uffd-sync"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("userfaultfd is denied"), std::string::npos) << outcome.err;
}

TEST(PagesBadInputTest, BadVariablesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"TERRANE_UNIT=5000", "TERRANE_UNIT"},  {"TERRANE_MEMORY=lots", "TERRANE_MEMORY"},
      {"TERRANE_SPACE=1", "TERRANE_SPACE"},   {"TERRANE_FAULT_SOURCE=magic", "magic"},
      {"TERRANE_TRANSPORT=pigeon", "pigeon"},
  };
  for (auto [variable, part] : cases) {
    Outcome outcome = run_pages(2, "nothing", {variable});
    EXPECT_NE(outcome.exit_code, 0) << variable;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << variable << ": " << outcome.err;
  }
}

// In a mount namespace of its own, /dev/shm has 64 MiB.
TEST(PagesSmallShmTest, AllocationsDoNotLiveInDevShm) {
  if (!is_root()) GTEST_SKIP() << "root alone can mount";
  Outcome outcome = run_pages(4, "large", {}, [] {
    bool small = ::unshare(CLONE_NEWNS) == 0 &&
                 ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                 ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") == 0;
    if (!small) ::_exit(77);
  });
  if (outcome.exit_code == 77) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
