// OpenMP programs that gcc has compiled without a flag of ours: their locked instructions and
// fences are served where they are.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kC = C_PROGRAM, kCpp = CPP_PROGRAM;

TEST(OmpStockTest, ProgramsRunAsTheyAre) {
  for (const std::string& team : kTeams) {
    expect_good(team, kC);
    expect_good(team, kCpp);
  }
}

TEST(OmpStockTest, AtomicsAndFlushesWorkAlone) {
  for (const char* mode : {"reductions", "flushes", "atomics", "ordered_atomics", "doacross"})
    expect_good("-n 2 --threads 2", kC + " " + mode);
}

TEST(OmpStockTest, TrapsAndOtherWaysToFindWritesDoTheSame) {
  for (const char* options :
       {"--atomics trap", "--fault-source sigsegv", "--fault-source uffd-sync"})
    for (const char* mode : {"flushes", "atomics", "reductions"})
      expect_good("-n 2 --threads 2 " + std::string(options), kC + " " + mode);
}

// An atomic construct of OpenMP carries its word alone: its home can do it.
TEST(OmpStockTest, RelaxedAtomicsAreDoneInTheHomesOfTheirWords) {
  for (const std::string& team : kTeams) {
    expect_good(team + " --atomics relaxed", kC);
    expect_good(team + " --atomics relaxed", kCpp);
  }
  for (const char* options :
       {"--fault-source sigsegv", "--fault-source uffd-sync", "--transport ucx"})
    for (const char* mode : {"atomics", "reductions"})
      expect_good("-n 2 --threads 2 --atomics relaxed " + std::string(options), kC + " " + mode);
}

TEST(OmpStockTest, ALoopThatPollsPlainMemoryEnds) {
  for (const char* how : {" pause", " nothing", " yield"})
    expect_good("-n 2 --threads 1", POLLING_PROGRAM + std::string(how));
}

class OmpStockHostsTest : public OnHosts {};

TEST_F(OmpStockHostsTest, ProgramsRunOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  auto expect_on_hosts = [this](const std::string& options, const std::string& program) {
    std::string line = omp_line("--heartbeat 20 -H h0,h1 --threads 1" + options, program);
    check_good(launch(0, cluster_test::words(line)).finish(), line);
  };
  for (const char* mode : {"", " flushes", " atomics"}) expect_on_hosts("", kC + mode);
  expect_on_hosts(" --atomics relaxed", kC + " atomics");
}

TEST(OmpStockTest, TheyAreRefusedWhereThatIsAskedFor) {
  Outcome outcome = run_omp("-n 2 --atomics refuse", kC);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("compile the program with -fno-inline-atomics"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
