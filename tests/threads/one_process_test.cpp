// What a process has once is one for the program on several nodes: it prints what it prints on one.
#include <gtest/gtest.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

std::vector<std::string> line(const std::string& options, const std::string& program) {
  return cluster_test::words(std::string(cluster_test::kTerrane) + " threads " + options + " " +
                             program);
}

void expect_as_on_one(const std::string& program) {
  Outcome one = Launched(line("-n 1", program)).finish();
  EXPECT_EQ(one.exit_code, 0) << program << ": " << one.err;
  for (const char* options : {"-n 2 --placement 1", "-n 3 --placement cyclic",
                              "-n 2 --placement 1 --fault-source sigsegv"}) {
    Outcome several = Launched(line(options, program)).finish();
    EXPECT_FALSE(several.timed_out) << program << " hangs with " << options;
    EXPECT_EQ(several.exit_code, 0) << program << " " << options << ": " << several.err;
    EXPECT_EQ(several.out, one.out) << program << " " << options << ": " << several.err;
  }
}

const std::string kProgram = ONE_PROCESS_PROGRAM;

TEST(OneProcessTest, RandomNumbersFollowEachOther) { expect_as_on_one(kProgram + " numbers"); }
TEST(OneProcessTest, SemaphoresWithNamesAreTheProgramsOwn) {
  expect_as_on_one(kProgram + " named");
}
TEST(OneProcessTest, QueuesOfSystemVAreNodeZeros) { expect_as_on_one(kProgram + " queues"); }
TEST(OneProcessTest, OlderCallsAboutMasksWork) { expect_as_on_one(kProgram + " masks"); }
TEST(OneProcessTest, NumbersOfTheProcessAreThoseOfNodeZero) {
  expect_as_on_one(kProgram + " process");
}
TEST(OneProcessTest, ClassesOfCharactersAreKnownToAllThreads) {
  expect_as_on_one(kProgram + " classes");
}
TEST(OneProcessTest, TheLocaleOfStreamsIsOneForTheProgram) { expect_as_on_one(ONE_PROCESS_LOCALE); }

TEST(OneProcessTest, MemoryAndThreadsPastTheProgramAreRefusedWithTheirNames) {
  Outcome outcome = Launched(line("-n 2 --placement 1", kProgram + " refused")).finish();
  EXPECT_EQ(outcome.out, "1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1\nend\n");
  for (const char* call : {"sbrk", "brk", "shmat", "personality", "pkey_alloc", "_Fork"})
    EXPECT_NE(outcome.err.find(std::string(call) + ": "), std::string::npos) << call;
}

class OneProcessHostsTest : public OnHosts {};

TEST_F(OneProcessHostsTest, WhatIsOfTheHostIsNodeZeros) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {" named", " queues", " process"}) {
    Outcome one = Launched(line("-n 1", kProgram + mode)).finish();
    Outcome two = run(0, line("-H h0,h1 --placement 1", kProgram + mode));
    EXPECT_EQ(two.exit_code, 0) << mode << ": " << two.err;
    EXPECT_EQ(two.out, one.out) << mode << ": " << two.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
