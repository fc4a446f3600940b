// Programs with data races, in a job with one order of all loads and stores.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = RACES_PROGRAM;
const std::string kSequential = " --placement 1 --consistency sequential";

TEST(RacesTest, ProgramsWithRacesSeeOneOrder) {
  expect_good(finish(plain(kProgram)), "plain");
  expect_good("-n 1 --consistency sequential", kProgram);
  expect_good("-n 2" + kSequential, kProgram);
  expect_good("-n 3" + kSequential, kProgram);
}

TEST(RacesTest, TheySeeItWithEachWriteDetection) {
  for (const char* source : {"uffd-async", "uffd-sync", "uffd-late", "sigsegv"})
    expect_good("-n 2 --fault-source " + std::string(source) + kSequential, kProgram);
}

TEST(RacesTest, TheySeeItByMessages) {
  expect_good("-n 3 --transport ucx" + kSequential, kProgram);
}

// Locks, conditions, streams, cancelled threads: what the threads' objects do is the same.
TEST(RacesTest, ProgramsWithoutRacesRunTheSame) {
  for (const char* part : {"objects", "files"})
    expect_good("-n 2" + kSequential, std::string(C_PROGRAM) + " " + part);
  for (const char* part : {"streams", "cancels"})
    expect_good("-n 3" + kSequential, std::string(LIBRARY_PROGRAM) + " " + part);
}

TEST(RacesTest, AnotherWordIsRefused) {
  Outcome outcome = finish(threads("-n 2 --consistency strong", kProgram));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_GE(count(outcome.err, "--consistency"), 1) << outcome.err;
}

using RacesOnHosts = GoodOnHosts;

TEST_F(RacesOnHosts, ProgramsWithRacesSeeOneOrder) {
  if (!make_hosts({.hosts = 2})) return;
  const std::string options = "--heartbeat 20 -H h0,h1" + kSequential;
  test_hosts::expect_good(launch(0, threads(options, kProgram)).finish(), options);
}

}  // namespace
}  // namespace terrane::test_hosts
