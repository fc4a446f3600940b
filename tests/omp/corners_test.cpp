// What programs of OpenMP rarely do: events of tasks that others fulfil, nested locks of tasks,
// rounding modes, members of packed structures, devices within teams, blanks in variables.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kEvents = EVENT_PROGRAM, kCorners = CORNER_PROGRAM;

TEST(OmpCornersTest, EventsAreFulfilledByWhateverComesLater) { expect_good_everywhere(kEvents); }

TEST(OmpCornersTest, FortranFulfilsEvents) {
#ifdef FORTRAN_EVENT_PROGRAM
  for (const std::string& team : kTeams) expect_good(team, FORTRAN_EVENT_PROGRAM);
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

TEST(OmpCornersTest, NestedLocksBelongToTasks) {
  expect_good_everywhere(kCorners + " nested_locks");
}

TEST(OmpCornersTest, ATeamRoundsAsItsMaster) {
  expect_good_everywhere(kCorners + " floating_point");
}

TEST(OmpCornersTest, MembersOfPackedStructuresAreAtomic) {
  expect_good_everywhere(kCorners + " unaligned");
}

TEST(OmpCornersTest, StrictTaskloopsHaveExactTasks) {
  expect_good_everywhere(kCorners + " strict_taskloops");
}

TEST(OmpCornersTest, ADeviceKnowsNothingOfTheTeamsAroundIt) {
  for (const std::string& team : kTeams) expect_good(team, kCorners + " devices_in_teams");
}

TEST(OmpCornersTest, BlanksAroundNumbersOfThreadsAreSkipped) {
  for (const char* threads : {"3 ", " 3", "\t3 , 2", "3 ,1", "3"})
    expect_good("-n 2", kCorners + " devices_in_teams",
                {std::string("OMP_NUM_THREADS=") + threads});
  for (const char* wrong : {"3 4", ",3", "3;", "-3"}) {
    Outcome outcome = run_omp("-n 2", kCorners, {std::string("OMP_NUM_THREADS=") + wrong});
    EXPECT_NE(outcome.exit_code, 0) << wrong;
    EXPECT_NE(outcome.err.find("must be a number of threads"), std::string::npos) << outcome.err;
  }
}

class OmpCornersHostsTest : public OnHosts {};

TEST_F(OmpCornersHostsTest, CornersAreTheSameOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const std::string& program : {kEvents, kCorners}) {
    std::string line = omp_line("--heartbeat 20 -H h0,h1 --threads 2", program);
    check_good(launch(0, cluster_test::words(line)).finish(), line);
  }
}

}  // namespace
}  // namespace terrane::test_hosts
