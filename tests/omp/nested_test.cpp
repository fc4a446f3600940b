// Regions within regions: their teams are threads of one node.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kNested = NESTED_PROGRAM;
const std::vector<std::string> kManyTeams = {"-n 2 --threads 2", "-n 3 --threads 2"};

// Teams of two levels and of three, each construct within them.
TEST(OmpNestedTest, EachConstructWorksInAnInnerTeam) {
  for (const char* mode : {"teams", "depth", "reuse", "loops", "order", "once", "exclusion",
                           "tasks", "privates", "threads", "variables"})
    for (const std::string& team : kManyTeams) expect_good(team, kNested + " " + mode);
}

TEST(OmpNestedTest, ProgramsRunOnEveryTeam) {
  for (const std::string& team : kTeams) expect_good(team, kNested);
}

TEST(OmpNestedTest, MastersReleaseWhatTheirTeamsWroteHoweverWritesAreFound) {
  expect_good_everywhere(kNested + " teams");
  expect_good_everywhere(kNested + " depth");
}

TEST(OmpNestedTest, LocksOfAnInstructionWorkInInnerTeams) {
#ifdef STOCK_NESTED_PROGRAM
  for (const std::string& team : kManyTeams) expect_good(team, STOCK_NESTED_PROGRAM);
#else
  GTEST_SKIP() << "nothing is replaced on this processor";
#endif
}

TEST(OmpNestedTest, ProgramsOfClangHaveInnerTeams) {
#ifdef CLANG_NESTED_PROGRAM
  for (const std::string& team : kTeams) expect_good(team, CLANG_NESTED_PROGRAM);
#else
  GTEST_SKIP() << "there is no clang with OpenMP";
#endif
}

// The sizes are those that gcc's library gives, but for limits, of which each node has its share.
TEST(OmpNestedTest, VariablesSayHowLargeInnerTeamsAre) {
  struct Case {
    std::vector<std::string> environment;
    const char* on_one;
    const char* on_two;
  };
  const Case cases[] = {
      {{"OMP_NUM_THREADS=2"}, "2 1 1 levels 1", "2 1 1 levels 1"},
      {{"OMP_NUM_THREADS=2,3"}, "2 3 3 levels 255", "2 3 3 levels 255"},
      {{"OMP_NUM_THREADS=2,3,2"}, "2 3 2 levels 255", "2 3 2 levels 255"},
      {{"OMP_NUM_THREADS=1,2"}, "1 2 2 levels 255", "1 2 2 levels 255"},
      {{"OMP_NUM_THREADS=2", "OMP_NESTED=true"}, "2 2 2 levels 255", "2 2 2 levels 255"},
      {{"OMP_NUM_THREADS=2,3", "OMP_NESTED=false"}, "2 1 1 levels 1", "2 1 1 levels 1"},
      {{"OMP_NUM_THREADS=2", "OMP_MAX_ACTIVE_LEVELS=2"}, "2 2 1 levels 2", "2 2 1 levels 2"},
      {{"OMP_NUM_THREADS=2,3", "OMP_MAX_ACTIVE_LEVELS=1"}, "2 1 1 levels 1", "2 1 1 levels 1"},
      {{"OMP_NUM_THREADS=2,4", "OMP_THREAD_LIMIT=4"}, "2 3 1 levels 255", "2 2 1 levels 255"},
      {{"OMP_NUM_THREADS=2,4", "OMP_THREAD_LIMIT=2"}, "2 1 1 levels 255", "2 1 1 levels 255"}};
  for (const Case& one : cases) {
    for (const auto& [team, sizes] :
         {std::pair("-n 1", one.on_one), std::pair("-n 2", one.on_two)}) {
      Outcome outcome = run_omp(team, kNested + " show", one.environment);
      EXPECT_EQ(outcome.out, "sizes " + std::string(sizes) + "\ngood\n")
          << team << " " << one.environment.back() << outcome.err;
    }
  }
}

TEST(OmpNestedTest, InnerTeamsRunOnThePlacesOfTheirMasters) {
  for (const char* bind : {"true", "spread,close", "close,spread", "primary"})
    for (const std::string& team : kManyTeams)
      expect_good(
          team, kNested + " places",
          {std::string("OMP_PROC_BIND=") + bind, "OMP_PLACES=threads", "OMP_MAX_ACTIVE_LEVELS=2"});
}

TEST(OmpNestedTest, TheReportCountsWhatInnerTeamsDid) {
  Outcome outcome = run_omp("-n 2 --threads 2 --stats", kNested + " tasks");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << outcome.out;
  EXPECT_NE(outcome.err.find("tasks of "), std::string::npos) << outcome.err;
}

class OmpNestedHostsTest : public OnHosts {};

TEST_F(OmpNestedHostsTest, InnerTeamsWorkOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  std::string line = omp_line("--heartbeat 20 -H h0,h1 --threads 2", kNested);
  check_good(launch(0, cluster_test::words(line)).finish(), line);
}

}  // namespace
}  // namespace terrane::test_hosts
