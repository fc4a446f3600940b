// Races between nodes, as terrane omp --check=races reports them.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = CHECKED_PROGRAM;

Outcome run_checked(const std::string& team, const std::string& what) {
  Outcome outcome = run_omp(team + " --check=races --check-fails", kProgram + " " + what);
  EXPECT_EQ(count(outcome.out, "good"), 1) << team << ": " << outcome.out << outcome.err;
  return outcome;
}

TEST(OmpCheckedTest, WhatTheConstructsOrderIsNoRace) {
  for (const char* team : {"-n 2 --threads 1", "-n 3 --threads 1", "-n 2 --threads 2"}) {
    Outcome outcome = run_checked(team, "none");
    EXPECT_EQ(outcome.exit_code, 0) << team << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("data race:"), std::string::npos) << team << ": " << outcome.err;
  }
}

TEST(OmpCheckedTest, ARaceOfTwoThreadsIsNamed) {
  Outcome outcome = run_checked("-n 2 --threads 1", "race");
  EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
  EXPECT_NE(outcome.err.find("data race: last, byte 0: "), std::string::npos) << outcome.err;
}

TEST(OmpCheckedTest, WhatTheConstructsOrderIsNoRaceOfReads) {
  for (const char* team : {"-n 2 --threads 1", "-n 3 --threads 1", "-n 2 --threads 2"}) {
    Outcome outcome =
        run_omp(std::string(team) + " --check=races=reads --check-fails", kProgram + " none");
    EXPECT_EQ(count(outcome.out, "good"), 1) << team << ": " << outcome.out << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << team << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("data race:"), std::string::npos) << team << ": " << outcome.err;
  }
}

TEST(OmpCheckedTest, AReadThatNothingOrdersIsNamedWithItsLine) {
  Outcome outcome =
      run_omp("-n 2 --threads 1 --check=races=reads --check-fails", kProgram + " read");
  EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
  EXPECT_NE(outcome.err.find("data race: last, bytes 0 to 3: written by node 0 at "),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find(" and read by node 1 at "), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
