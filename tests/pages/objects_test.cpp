// Mutexes, conditions and other objects of the C library's threads in shared memory, on real
// processes.
#include <gtest/gtest.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

Outcome run_mode(int nodes, const std::string& mode, const std::string& transport,
                 std::vector<std::string> environment = {}) {
  Launched::Options options;
  options.environment = std::move(environment);
  Launched job({kTerrane, "run", "-n", std::to_string(nodes), "--transport", transport,
                "--patience", "0.2", OBJECTS_PROGRAM, mode},
               std::move(options));
  return job.finish();
}

void expect_good(int nodes, const std::string& mode, const std::string& transport,
                 std::vector<std::string> environment = {}) {
  Outcome outcome = run_mode(nodes, mode, transport, std::move(environment));
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.out << outcome.err;
}

class ObjectsTest : public testing::TestWithParam<const char*> {
 protected:
  static void expect(const std::string& mode) {
    for (int nodes : {1, 3}) expect_good(nodes, mode, GetParam());
  }
};
// Over shared memory, and over a network.
INSTANTIATE_TEST_SUITE_P(Transports, ObjectsTest, testing::Values("shm", "ucx"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ObjectsTest, MutexesExcludeThreadsOfAllNodes) { expect("mutexes"); }
TEST_P(ObjectsTest, ATryOrATimeLimitEndsWhereTheMutexIsHeld) { expect("tries"); }
TEST_P(ObjectsTest, AMutexIsOfItsType) { expect("kinds"); }
TEST_P(ObjectsTest, APostInAHandlerIsDoneOrRefused) { expect("handlers"); }
TEST_P(ObjectsTest, ObjectsOfCWorkAsThoseOfPosix) { expect("c"); }
TEST_P(ObjectsTest, ConditionsWakeThreadsOfAllNodes) { expect("conditions"); }
TEST_P(ObjectsTest, NoSignalIsLostOnAWaitThatExpires) { expect("signals"); }
TEST_P(ObjectsTest, BarriersHoldThreadsOfAllNodes) { expect("barriers"); }
TEST_P(ObjectsTest, ReadersShareAndWritersAreAlone) { expect("locks"); }
TEST_P(ObjectsTest, SemaphoresCountForAllNodes) { expect("semaphores"); }
TEST_P(ObjectsTest, ObjectsElsewhereAreTheCLibrarys) { expect("elsewhere"); }

TEST(ObjectsTest, WorkWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "uffd-late", "sigsegv"})
    for (const char* mode : {"mutexes", "conditions", "barriers"})
      expect_good(2, mode, "shm", {std::string("TERRANE_FAULT_SOURCE=") + source});
}

TEST(ObjectsTest, WhatCannotBeServedIsSaidOnce) {
  Outcome outcome = run_mode(1, "errors", "shm");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* call : {"pthread_mutex_unlock: the mutex at 0x", "pthread_cond_wait: the mutex",
                           "pthread_cond_wait: the condition variable", "pthread_barrier_wait: ",
                           "pthread_rwlock_unlock: ", "pthread_mutex_lock: this thread holds"})
    EXPECT_EQ(count(outcome.err, call), 1) << call << ": " << outcome.err;
  EXPECT_EQ(count(outcome.err, "fails with"), 6) << outcome.err;
}

TEST(ObjectsTest, AThreadThatEndsWithAMutexEndsTheJob) {
  Outcome outcome = run_mode(2, "abandons", "shm");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "ended while it held the mutex at 0x"), 1) << outcome.err;
}

TEST(ObjectsTest, LongWaitsAreReportedWithTheMutex) {
  Outcome outcome = run_mode(2, "waits", "shm");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_GE(count(outcome.err, "s for the mutex at 0x"), 1) << outcome.err;
  EXPECT_GE(count(outcome.err, "has held the mutex at 0x"), 1) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
