// OpenMP programs of clang, which call the functions of libomp: the same teams, loops and tasks.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

std::string program(const std::string& name) { return CLANG_PROGRAMS + name + "_program"; }

TEST(OmpClangTest, ProgramsRunAsTheyAre) {
  for (const std::string& team : kTeams)
    for (const char* name : {"c", "kmp", "cpp"}) expect_good(team, program(name));
}

TEST(OmpClangTest, ObjectsOfGccRunThatClangHasLinked) {
  for (const std::string& team : kTeams) expect_good(team, program("linked"));
}

TEST(OmpClangTest, EachConstructWorksAlone) {
  for (const char* mode :
       {"loops",    "reductions",      "exclusion",       "once",     "order",   "teams",
        "tasks",    "privates",        "locks",           "barriers", "devices", "flushes",
        "doacross", "task_reductions", "copied_privates", "events",   "leagues", "affinity",
        "atomics",  "ordered_atomics"})
    expect_good("-n 2 --threads 2", program("c") + " " + mode);
}

// Intel's compilers make calls of atomic constructs.
TEST(OmpClangTest, AtomicCallsHaveTheResultsOfLibomp) {
  Outcome plain = Launched({program("kmp_atomics"), "table"}).finish();
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  ASSERT_GT(count(plain.out, "\n"), 1000);
  Outcome ours = run_omp("-n 2 --threads 1", program("kmp_atomics") + " table");
  EXPECT_EQ(ours.exit_code, 0) << ours.err;
  EXPECT_EQ(ours.out, plain.out);
}

TEST(OmpClangTest, AtomicCallsOfAllThreadsAreAtomic) {
  for (const std::string& team : kTeams) expect_good(team, program("kmp_atomics"));
}

TEST(OmpClangTest, FunctionsOfLibompDoWhatTheyDoThere) {
  for (const std::string& team : kTeams)
    for (const char* mode : {"", " defaults"}) expect_good(team, program("kmp_calls") + mode);
}

TEST(OmpClangTest, TheBlockTimeIsThatOfTheWaitPolicy) {
  for (const std::string mode : {"active", "passive"})
    expect_good("-n 2 --threads 1", program("kmp_calls") + " " + mode, {"OMP_WAIT_POLICY=" + mode});
}

TEST(OmpClangTest, ThreadprivateVariablesWithConstructorsNeedNoThreadLocalOnes) {
  for (const std::string& team : kTeams) expect_good(team, program("kmp_private"));
}

TEST(OmpClangTest, EveryWayToFindWritesDoes) { expect_good_everywhere(program("kmp")); }

class OmpClangHostsTest : public OnHosts {};

TEST_F(OmpClangHostsTest, ProgramsRunOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* name : {"c", "kmp", "kmp_calls", "kmp_private"}) {
    std::string line = omp_line("--heartbeat 20 -H h0,h1 --threads 1", program(name));
    check_good(launch(0, cluster_test::words(line)).finish(), line);
  }
}

TEST(OmpClangTest, AsThreadsAloneTheyAreRefused) {
  std::string line = std::string(cluster_test::kTerrane) + " threads -n 2 " + program("c");
  Outcome outcome = Launched(cluster_test::words(line), {}).finish();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("start it by terrane omp"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
