// What the kernel and the C library keep for a process (src/frontend/process_state.txt): the same
// for all threads of a program on several nodes, or refused with a sentence.
#include <gtest/gtest.h>
#include <unistd.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kRights = STATE_RIGHTS;
constexpr const char* kSetups[] = {"-n 1", "-n 2 --placement 1", "-n 3 --placement cyclic"};

Outcome run_threads(const std::string& options, const std::string& program) {
  std::string line = std::string(cluster_test::kTerrane) + " threads " + options + " " + program;
  Launched job(cluster_test::words(line), {});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = run_threads(options, program);
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << program << ": " << outcome.err;
  EXPECT_EQ(outcome.out, "good\n") << options << " " << program;
  EXPECT_EQ(outcome.err, "") << options << " " << program;
}

TEST(StateTest, NoThreadKeepsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to drop";
  for (const char* setup : kSetups)
    for (const char* call : {"setuid", "setreuid", "setresuid"})
      expect_good(setup, kRights + " " + call);
}

TEST(StateTest, AnEffectiveUserIsThatOfAllThreads) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  for (const char* setup : kSetups) expect_good(setup, kRights + " effective");
}

TEST(StateTest, WhatCannotBeDoneOnAllNodesIsRefused) {
  Outcome outcome = run_threads("-n 2", kRights + " refused");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  for (const char* call : {"unshare", "setns"})
    EXPECT_NE(outcome.err.find(std::string(call) + ": the threads of other nodes would stay"),
              std::string::npos)
        << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
