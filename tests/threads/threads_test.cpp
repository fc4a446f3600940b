// Programs for threads, unmodified, on several nodes: the same results as on one machine.
#include <gtest/gtest.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

Outcome run_threads(const std::string& options, const std::string& program,
                    std::vector<std::string> environment = {}) {
  std::string line = std::string(cluster_test::kTerrane) + " threads " + options + " " + program;
  Launched job(cluster_test::words(line), {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = run_threads(options, program);
  EXPECT_EQ(outcome.exit_code, 0) << program << ": " << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << program << ": " << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "") << program;
}

void expect_refused(const std::string& options, const std::string& program,
                    const std::string& sentence) {
  Outcome outcome = run_threads(options, program);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

const std::string kC = C_PROGRAM, kCpp = CPP_PROGRAM, kLibrary = LIBRARY_PROGRAM;
constexpr const char* kCModes[] = {"globals", "heap",     "stacks",  "objects",  "lives",
                                   "files",   "mappings", "randoms", "variables"};
constexpr const char* kCppModes[] = {"containers", "statics", "locals", "exceptions",
                                     "queue",      "locks",   "streams"};

TEST(ThreadsTest, ProgramsInCRunOnTwoNodes) {
  for (const char* mode : kCModes) expect_good("-n 2", kC + " " + mode);
}

TEST(ThreadsTest, ProgramsInCppRunOnTwoNodes) {
  for (const char* mode : kCppModes) expect_good("-n 2", kCpp + " " + mode);
}

TEST(ThreadsTest, WhatTheCLibraryHasForThreadsWorksBetweenNodes) {
  for (const char* mode : {"c_threads", "allocations", "streams", "process"})
    for (const char* options : {"-n 2 --placement 1", "-n 3 --transport ucx", "-n 1"})
      expect_good(options, kLibrary + " " + mode);
}

TEST(ThreadsTest, ThreadsAreCancelledOnEveryNode) {
  for (const char* options :
       {"-n 1", "-n 2 --placement 1", "-n 3 --transport ucx", "-n 2 --fault-source uffd-sync",
        "-n 2 --fault-source uffd-late", "-n 2 --placement 1 --fault-source sigsegv"}) {
    expect_good(options, kLibrary + " cancels");
    expect_good(options, kCpp + " cancelled");
  }
}

TEST(ThreadsTest, MainIsCancelledToo) {
  for (const char* nodes : {"-n 1", "-n 2 --placement 1"}) {
    Outcome outcome = run_threads(nodes, kLibrary + " cancel_main");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "main has ended\ngood\n") << outcome.err;
  }
}

TEST(ThreadsTest, CancellationThatCannotBeIsRefusedInASentence) {
  Outcome outcome = run_threads("-n 2", kLibrary + " asynchronous");
  EXPECT_EQ(outcome.out, "good\n") << outcome.err;
  EXPECT_NE(outcome.err.find("ends at cancellation points alone; call pthread_testcancel"),
            std::string::npos)
      << outcome.err;
  expect_refused("-n 2", kCpp + " swallowed", "a catch (...) ends a thread's end");
}

TEST(ThreadsTest, EveryCallReadsTheStandardInputOfMain) {
  std::string line = std::string("printf 'line\n12\nline\n12\n' | ") + cluster_test::kTerrane +
                     " threads -n 2 --placement 1 " + kLibrary + " input";
  Launched job({"/bin/sh", "-c", line}, {});
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST(ThreadsTest, QuickExitEndsAllNodes) {
  Outcome outcome = run_threads("-n 2 --placement 1", kLibrary + " quick_exit");
  EXPECT_EQ(outcome.exit_code, 6) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "the handler of quick_exit"), 1) << outcome.out;
}

TEST(ThreadsTest, TheyRunOnOneNodeAndOnThree) {
  for (const char* nodes : {"-n 1", "-n 3"}) {
    for (const char* mode : kCModes) expect_good(nodes, kC + " " + mode);
    for (const char* mode : kCppModes) expect_good(nodes, kCpp + " " + mode);
  }
}

TEST(ThreadsTest, TheyRunOverANetworksTransport) {
  for (const char* mode : kCModes) expect_good("-n 2 --transport ucx", kC + " " + mode);
  for (const char* mode : kCppModes) expect_good("-n 2 --transport ucx", kCpp + " " + mode);
}

TEST(ThreadsTest, TheyRunWithEveryFaultSource) {
  for (const char* source : {"uffd-sync", "uffd-late", "sigsegv"}) {
    std::string options = std::string("-n 2 --fault-source ") + source;
    for (const char* mode : kCModes) expect_good(options, kC + " " + mode);
    for (const char* mode : kCppModes) expect_good(options, kCpp + " " + mode);
  }
}

TEST(ThreadsTest, SystemCallsReachEveryPartOfMemory) {
  Outcome outcome = run_threads("-n 2", kC + " calls");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("fork: a child would not have the program's memory"),
            std::string::npos)
      << outcome.err;
}

TEST(ThreadsTest, CallsThatWaitAreRightWhileOthersWriteToTheStack) {
  for (const char* options : {"-n 2 --placement 1", "-n 2 --placement 1 --fault-source sigsegv"})
    expect_good(options, kLibrary + " waits_on_stacks");
}

TEST(ThreadsTest, EveryThreadStartsOtherPrograms) {
  for (const char* options : {"-n 2", "-n 2 --fault-source sigsegv"})
    expect_good(options, kC + " children");
}

TEST(ThreadsTest, StandardInputAndRedirectedOutputAreThatOfMain) {
  for (const char* nodes : {"1", "3"}) {
    std::string line = std::string("printf 'one\\n2three\\n4' | ") + cluster_test::kTerrane +
                       " threads -n " + nodes + " " + kC + " input";
    Launched job({"/bin/sh", "-c", line}, {});
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("got one\n2"), std::string::npos) << outcome.out;
    EXPECT_EQ(count(outcome.out, "a line of a thread"), 0) << outcome.out;
  }
}

TEST(ThreadsTest, AThreadLocalVariableOfAnotherNodeEndsTheProgramWithASentence) {
  expect_good("-n 1", kC + " thread_local");
  expect_refused("-n 2", kC + " thread_local", "private memory is good on the node alone");
}

TEST(ThreadsTest, ProgramsOfTheCppLibraryAreRightWithoutAChange) {
#ifndef TERRANE_HAS_NO_INLINE_ATOMICS
  GTEST_SKIP() << "this compiler has no -fno-inline-atomics";
#endif
  expect_good("-n 2", std::string(KMEANS) + " 4 20000");
  for (const char* options : {"-n 2", "-n 3 --transport ucx"}) {
    expect_good(options, std::string(POOL) + " 4 8");
    expect_good(options, std::string(HASH_MAP) + " 3 300");
  }
}

TEST(ThreadsTest, ThreadsArePlacedInBlocksOrInTurn) {
  for (const char* placement : {"cyclic", "1", "block"}) {
    Outcome outcome = run_threads(std::string("-n 2 --placement ") + placement, kC + " globals");
    EXPECT_EQ(count(outcome.out, "\n0 threads ran elsewhere"), 0) << outcome.out;
  }
  Outcome outcome = run_threads("-n 2 --placement 8", kC + " globals");
  EXPECT_NE(outcome.out.find("0 threads ran elsewhere"), std::string::npos) << outcome.out;
}

TEST(ThreadsTest, TheOutputOfEveryThreadIsThere) {
  for (int times = 0; times < 3; ++times) {
    Outcome outcome = run_threads("-n 3", kC + " output");
    EXPECT_EQ(count(outcome.out, "says this"), 6) << outcome.out;
  }
}

TEST(ThreadsTest, TheExitCodeIsThatOfTheProgram) {
  EXPECT_EQ(run_threads("-n 2", kC + " code").exit_code, 5);
  Outcome outcome = run_threads("-n 2", kC + " exit");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_NE(outcome.out.find("thread 5 exits"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("the handler runs in main's process"), std::string::npos)
      << outcome.out;
}

TEST(ThreadsTest, ConstructorsAndDestructorsRunOnce) {
  Outcome outcome = run_threads("-n 3", kCpp + " containers");
  EXPECT_EQ(count(outcome.out, "a static object ends, 1 was made"), 1) << outcome.out;
  outcome = run_threads("-n 3", kCpp + " statics");
  EXPECT_EQ(count(outcome.out, "the static of a function is made"), 1) << outcome.out;
}

TEST(ThreadsTest, TheProgramLivesAsLongAsItsThreads) {
  Outcome outcome = run_threads("-n 2", kC + " exit_main");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "says this"), 2) << outcome.out;
}

TEST(ThreadsTest, AtomicsThatAreCallsAreServed) {
#ifndef TERRANE_HAS_NO_INLINE_ATOMICS
  GTEST_SKIP() << "this compiler has no -fno-inline-atomics";
#endif
  expect_good("-n 2", ATOMICS_PROGRAM);
  expect_good("-n 2 --transport ucx", ATOMICS_PROGRAM);
  for (const char* options : {"-n 2", "-n 3 --transport ucx"})
    expect_good(std::string(options) + " --allow-inline-atomics", FUTURES_PROGRAM);
}

TEST(ThreadsTest, InlineAtomicsAreRefusedByTheirFunctionsIfAsked) {
  for (const char* reason : {"compile the program with -fno-inline-atomics", "): lock xadd"})
    expect_refused("-n 2 --atomics=refuse", INLINED_PROGRAM, reason);
}

TEST(ThreadsTest, WhatCannotBeStartedIsRefusedInASentence) {
  expect_refused("-n 2", STATIC_PROGRAM, "is not linked dynamically: link it without -static");
  expect_refused("-n 2", PAGES_PROGRAM, "uses Terrane by itself: start it by terrane run");
  expect_refused("-n 2", OWN_MALLOC_PROGRAM, "has a function malloc of its own");
  expect_refused("-n 2", OWN_LOCKS_PROGRAM, "has a function pthread_mutex_lock of its own");
  expect_refused("-n 2", "/usr/bin/ldd", "is a script: give the program that it starts");
  expect_refused("-n 2 --placement some", kC, "--placement some: must be block, cyclic");
}

TEST(ThreadsTest, MoreMemoryThanThereIsIsRefused) {
  Outcome outcome = run_threads("-n 2", kC + " beyond");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("malloc: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("The call fails with ENOMEM"), std::string::npos) << outcome.err;
}

TEST(ThreadsTest, AProgramThatDoesNotFitNamesTheMemory) {
  Outcome outcome = run_threads("-n 4 --memory 2M", kC + " heap");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("raise --memory"), std::string::npos) << outcome.err;
}

TEST(ThreadsTest, AReportSaysWhereTheTimeWent) {
  for (const char* options : {"threads --stats", "run --program --stats"}) {
    std::string line =
        std::string(cluster_test::kTerrane) + " " + options + " -n 2 " + kC + " heap";
    Launched job(cluster_test::words(line), {});
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* part : {"terrane: node 0 (", "terrane: node 1 (", "handler", "small blocks",
                             "threads_c_program:0x", "acquires"})
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << ": " << outcome.err;
  }
}

TEST(ThreadsTest, AnOverflowOfAStackIsSaid) {
  Outcome outcome = run_threads("-n 2", kC + " overflow");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("stack overflow at 0x"), std::string::npos) << outcome.err;
}

TEST(ThreadsTest, MoreThreadsThanThereCanBeAreRefused) {
  Outcome outcome = run_threads("-n 2", kC + " many");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("the program has 1024 threads already"), std::string::npos)
      << outcome.err;
}

class ThreadsHostsTest : public OnHosts {};

TEST_F(ThreadsHostsTest, TheyRunOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  auto run = [&](const std::string& options, const std::string& program) {
    std::string line = std::string(cluster_test::kTerrane) + " threads " + options + " " + program;
    Outcome outcome = launch(0, cluster_test::words(line)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  };
  for (const char* mode : kCModes) run("--heartbeat 20 -H h0,h1", kC + " " + mode);
  for (const char* mode : kCppModes) run("--heartbeat 20 -H h0,h1", kCpp + " " + mode);
#ifdef TERRANE_HAS_NO_INLINE_ATOMICS
  run("--heartbeat 20 -H h0:2,h1:2", std::string(KMEANS) + " 4 20000");
#endif
}

}  // namespace
}  // namespace terrane::test_hosts
