// OpenMP programs of stock compilers on several nodes: the same results as on one machine.
#include <gtest/gtest.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

Outcome run_omp(const std::string& options, const std::string& program,
                std::vector<std::string> environment = {}) {
  std::string line = std::string(cluster_test::kTerrane) + " omp " + options + " " + program;
  Launched job(cluster_test::words(line), {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = run_omp(options, program);
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << program << ": " << outcome.out
                                  << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << program << ": " << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "") << program;
}

void expect_refused(const std::string& options, const std::string& program,
                    const std::string& sentence, std::vector<std::string> environment = {}) {
  Outcome outcome = run_omp(options, program, std::move(environment));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

const std::string kC = C_PROGRAM, kCpp = CPP_PROGRAM;
constexpr const char* kTeams[] = {"-n 1 --threads 1", "-n 1 --threads 2", "-n 2 --threads 1",
                                  "-n 2 --threads 2"};

TEST(OmpTest, ProgramsInCRun) {
  for (const char* team : kTeams) expect_good(team, kC);
}

TEST(OmpTest, EachConstructWorksAlone) {
  for (const char* mode : {"loops",           "reductions", "exclusion",       "once",
                           "order",           "teams",      "between_regions", "tasks",
                           "privates",        "locks",      "barriers",        "heap",
                           "devices",         "flushes",    "doacross",        "task_reductions",
                           "copied_privates", "events",     "leagues",         "affinity"})
    expect_good("-n 2 --threads 2", kC + " " + mode);
}

TEST(OmpTest, ProgramsInCppRun) {
  for (const char* team : kTeams) expect_good(team, kCpp);
}

TEST(OmpTest, ProgramsInFortranRun) {
#ifdef FORTRAN_PROGRAM
  for (const char* team : kTeams) expect_good(team, FORTRAN_PROGRAM);
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

TEST(OmpTest, ProgramsRunOnThreeNodes) { expect_good("-n 3 --threads 1", kC); }

TEST(OmpTest, EnvironmentVariablesAreRead) {
  Outcome outcome = run_omp("-n 2", kC + " show",
                            {"OMP_NUM_THREADS=3", "OMP_SCHEDULE=guided,5", "OMP_THREAD_LIMIT=7"});
  EXPECT_NE(outcome.out.find("threads 3 schedule 3,5 limit 7"), std::string::npos) << outcome.out;
  outcome = run_omp("-n 2 --threads 2", kC + " show");
  EXPECT_NE(outcome.out.find("threads 4 schedule 2,1"), std::string::npos) << outcome.out;
}

TEST(OmpTest, WrongSettingsAreRefusedInASentence) {
  const std::string wanted = "must be a number of threads from 1 to 1000";
  for (const char* wrong : {"0", "abc", "1000000", "-2", "4x"})
    expect_refused("-n 2", kC, wanted, {std::string("OMP_NUM_THREADS=") + wrong});
  expect_refused("-n 2 --threads 0", kC, wanted);
  expect_refused("-n 2", kC, "OMP_SCHEDULE=often: must be static", {"OMP_SCHEDULE=often"});
  expect_refused("-n 2", kC, "OMP_STACKSIZE=large: must be a size", {"OMP_STACKSIZE=large"});
}

TEST(OmpTest, WhatIsNotServedEndsTheProgramWithItsName) {
  expect_refused("-n 2 --threads 1", kC + " written_private",
                 "written to a thread-local (threadprivate) variable of the first thread");
}

TEST(OmpTest, InlineAtomicsAreRefused) {
  expect_refused("-n 2", INLINED_PROGRAM, "compile the program with -fno-inline-atomics");
}

class OmpHostsTest : public OnHosts {};

TEST_F(OmpHostsTest, ProgramsRunOnTwoClusters) {
  if (!make_hosts({.hosts = 3})) return;
  for (const std::string& program : {kC + " between_regions", kC}) {
    std::string line = std::string(cluster_test::kTerrane) +
                       " omp --heartbeat 20 -H h0,h1,h2 --clusters a:h0,h1/b:h2 --threads 1 " +
                       program;
    Outcome outcome = launch(0, cluster_test::words(line)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  }
}

TEST_F(OmpHostsTest, ProgramsRunOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const std::string& program : {kC, kCpp}) {
    std::string line =
        std::string(cluster_test::kTerrane) + " omp --heartbeat 20 -H h0,h1 --threads 2 " + program;
    Outcome outcome = launch(0, cluster_test::words(line)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
