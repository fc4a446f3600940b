// What OpenMP's specification says of rare things: memory of devices, pools of allocators, loops of
// many dimensions, the directive error, limits by clauses.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kEdges = EDGE_PROGRAM;

TEST(OmpEdgesTest, BoxesOfArraysAreCopied) { expect_good("-n 2", kEdges + " boxes"); }

TEST(OmpEdgesTest, ABlockGrowsWithinItsPool) {
  for (const std::string& team : kTeams) expect_good(team, kEdges + " pools");
}

TEST(OmpEdgesTest, OrderedLoopsHaveManyDimensions) {
  expect_good_everywhere(kEdges + " dimensions");
}

TEST(OmpEdgesTest, TargetRegionsHaveTheirLimitOfThreads) {
  for (const std::string& team : kTeams) expect_good(team, kEdges + " limits");
}

TEST(OmpEdgesTest, ADeviceHasTheVariablesOfTheEnvironment) {
  for (const std::string& team : kTeams) expect_good(team, kEdges + " device_variables");
}

TEST(OmpEdgesTest, FortranLeavesArgumentsOutAndPassesLargeNumbers) {
#ifdef FORTRAN_EDGE_PROGRAM
  for (const std::string& team : kTeams) expect_good(team, FORTRAN_EDGE_PROGRAM);
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

TEST(OmpEdgesTest, NumbersOfAffinityArePaddedBehindTheirSign) {
  expect_good("-n 2", kEdges + " formats");
}

TEST(OmpEdgesTest, TheDirectiveErrorSaysWhatGccsLibrarySays) {
  Outcome outcome = run_omp("-n 2", kEdges + " errors");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(
      outcome.err.find("\nlibgomp: error directive encountered\n"
                       "\nlibgomp: error directive encountered: the program\n"
                       "\nlibgomp: fatal error: error directive encountered: of the program\n"),
      std::string::npos)
      << outcome.err;
}

TEST(OmpEdgesTest, AllThreadsHaveTheAllocatorOfTheEnvironment) {
  for (const std::string& team : kTeams)
    expect_good(team, kEdges + " allocator", {"OMP_ALLOCATOR= OMP_cgroup_mem_alloc "});
}

TEST(OmpEdgesTest, MandatoryOffloadIsRefusedForOtherDevicesThanTheHost) {
  expect_good("-n 2", kEdges + " devices", {"OMP_TARGET_OFFLOAD=default"});
  Outcome outcome = run_omp("-n 2", kEdges + " devices", {"OMP_TARGET_OFFLOAD=mandatory"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.out, "wrong"), 0) << outcome.out;
  EXPECT_NE(outcome.err.find("OMP_TARGET_OFFLOAD=mandatory: there is no device 7"),
            std::string::npos)
      << outcome.err;
}

TEST(OmpEdgesTest, TheFirstThreadMayFillMoreThanItsNodeKeeps) {
  for (const char* team : {"-n 2 --threads 1 --memory 32M", "-n 3 --threads 2 --memory 32M"})
    expect_good(team, kEdges + " filled");
}

class OmpEdgesHostsTest : public OnHosts {};

TEST_F(OmpEdgesHostsTest, EdgesAreTheSameOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  std::string line = omp_line("--heartbeat 20 -H h0,h1 --threads 2", kEdges);
  check_good(launch(0, cluster_test::words(line)).finish(), line);
}

}  // namespace
}  // namespace terrane::test_hosts
