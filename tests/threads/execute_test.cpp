// Programs that execute themselves, as many do to begin with another environment, or another one.
#include <gtest/gtest.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

struct Nodes {
  const char* options;
  const char* count;
};
constexpr Nodes kSetups[] = {
    {"-n 1", "1"}, {"-n 2 --placement 1", "2"}, {"-n 3 --placement cyclic", "3"}};

std::vector<std::string> line(const std::string& options, const std::string& arguments) {
  return cluster_test::words(std::string(cluster_test::kTerrane) + " threads " + options + " " +
                             PROGRAM + " " + arguments);
}

Outcome run_alone(const std::string& options, const std::string& arguments) {
  Outcome outcome = Launched(line(options, arguments)).finish();
  EXPECT_FALSE(outcome.timed_out) << options << " " << arguments << " hangs";
  return outcome;
}

TEST(ExecuteTest, AProgramExecutesItselfOnAllNodes) {
  for (const Nodes& setup : kSetups) {
    for (const char* call : {"execv", "execvp", "execl"}) {
      Outcome outcome = run_alone(setup.options, std::string(call) + " word");
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, std::string(setup.count) + ", a variable, word\n") << call;
      EXPECT_EQ(outcome.err, "") << call;
    }
    Outcome outcome = run_alone(setup.options, "execle word");
    EXPECT_EQ(outcome.out, std::string(setup.count) + ", , word\n") << outcome.err;
    outcome = run_alone(setup.options, "execv word 7");
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  }
}

TEST(ExecuteTest, AnOpenFileIsExecutedOnAllNodesThatFindItsName) {
  for (const Nodes& setup : kSetups) {
    for (const char* call :
         {"fexecve", "execveat", "execveat_empty", "by_number", "at_by_number"}) {
      Outcome outcome = run_alone(setup.options, std::string(call) + " word 7");
      EXPECT_EQ(outcome.exit_code, 7) << call << ": " << outcome.err;
      EXPECT_EQ(outcome.out, std::string(setup.count) + ", a variable, word\n") << call;
    }
    Outcome outcome = run_alone(setup.options, "nameless word 7");
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
    EXPECT_EQ(outcome.out, "1, a variable, word\n") << "node 0 alone has the file";
    outcome = run_alone(setup.options, "bad_files");
    EXPECT_EQ(outcome.out, "good\n") << outcome.err;
  }
  Outcome outcome = run_alone("-n 2 --placement 1 --fault-source sigsegv", "fexecve word 7");
  EXPECT_EQ(outcome.out, "2, a variable, word\n") << outcome.err;
}

TEST(ExecuteTest, ItDoesWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"}) {
    Outcome outcome =
        run_alone(std::string("-n 2 --placement 1 --fault-source ") + source, "execv word");
    EXPECT_EQ(outcome.out, "2, a variable, word\n") << source << ": " << outcome.err;
  }
}

TEST(ExecuteTest, AnotherProgramIsTheLastActOfOneWithThreads) {
  for (const Nodes& setup : kSetups) {
    Outcome outcome = run_alone(setup.options, "last");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "last\n");
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(ExecuteTest, WhatCannotBeExecutedLeavesTheProgramAsItWas) {
  for (const Nodes& setup : kSetups) {
    Outcome outcome = run_alone(setup.options, "missing");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "No such file or directory\n");
  }
  Outcome outcome = run_alone("-n 2 --placement 1", "thread");
  EXPECT_EQ(outcome.out, "refused: ENOTSUP\n") << outcome.err;
  EXPECT_EQ(count(outcome.err, "execve: a thread of another node than 0 cannot make"), 1);
}

TEST(ExecuteTest, ChildrenWriteWhereTheProgramDoes) {
  for (const Nodes& setup : kSetups) {
    Outcome outcome = run_alone(setup.options, "children");
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "by system\nspawned\n");
  }
}

class ExecuteHostsTest : public OnHosts {};

TEST_F(ExecuteHostsTest, AProgramExecutesItselfOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  Outcome outcome = run(0, line("-H h0,h1 --placement 1", "execv word 7"));
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_EQ(outcome.out, "2, a variable, word\n") << outcome.err;
  outcome = run(0, line("-H h0,h1 --placement 1", "last"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "last\n") << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
