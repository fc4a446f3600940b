// Libraries of programs for threads: their data are shared, whether they are linked or opened
// later.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

constexpr const char* kSetUps[] = {"-n 1",
                                   "-n 2 --placement 1",
                                   "-n 3",
                                   "-n 2 --placement 1 --fault-source uffd-sync",
                                   "-n 2 --placement 1 --fault-source sigsegv",
                                   "-n 2 --placement 1 --transport ucx"};
const std::string kLibraries = LIBRARIES_PROGRAM, kOpened = OPENED_LIBRARY;
const std::string kRights = MEMORY_RIGHTS_PROGRAM;

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = finish(threads(options, program));
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << program << ": " << outcome.out
                                  << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << program << ": " << outcome.out << outcome.err;
}

TEST(LibrariesTest, DataOfALinkedLibraryAreShared) {
  for (const char* options : kSetUps) expect_good(options, kLibraries + " linked");
}

TEST(LibrariesTest, ALibraryThatIsOpenedLaterIsTheSameOnAllNodes) {
  for (const char* options : kSetUps) {
    expect_good(options, kLibraries + " opened " + kOpened);
    expect_good(options, kLibraries + " opened_in_thread " + kOpened);
  }
}

TEST(LibrariesTest, AnOpenedLibraryEndsOnceWithWhatAllThreadsHaveDone) {
  Outcome outcome = finish(threads("-n 3", kLibraries + " opened " + kOpened));
  EXPECT_EQ(count(outcome.out, "the library ends with 116"), 1) << outcome.out << outcome.err;
}

TEST(LibrariesTest, WhatCannotBeOpenedIsSaidByDlerror) {
  for (const char* options : kSetUps) expect_good(options, kLibraries + " missing");
}

TEST(LibrariesTest, ALibraryIsOpenedWhereOthersCouldNotBe) {
  for (const char* options : kSetUps)
    expect_good(options, kLibraries + " unresolved " + UNRESOLVED_LIBRARY + " " + kOpened);
}

TEST(LibrariesTest, AConstructorOfAnOpenedLibraryRunsOnceAndMayStartThreads) {
  for (const char* options : kSetUps)
    for (const char* mode : {" constructed ", " constructed_in_thread "}) {
      Outcome outcome = finish(threads(options, kLibraries + mode + THREAD_LIBRARY));
      EXPECT_EQ(outcome.exit_code, 0) << options << mode << outcome.out << outcome.err;
      EXPECT_EQ(count(outcome.out, "constructed"), 1) << options << mode << outcome.out;
      EXPECT_EQ(count(outcome.out, "good"), 1) << options << mode << outcome.out << outcome.err;
    }
}

TEST(LibrariesTest, ALibraryWithLockedInstructionsIsRefusedByItsNameIfAsked) {
  Outcome outcome = finish(threads("-n 2 --atomics=refuse", LOCKED_PROGRAM));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("libthreads_library_locked.so, a library of the program, has locked "
                             "instructions, which lose updates between nodes (count_up)"),
            std::string::npos)
      << outcome.err;
  expect_good("-n 2 --allow-inline-atomics", LOCKED_PROGRAM);
}

TEST(LibrariesTest, ProgramsAtFixedAddressesTakeTheAddressesOfMallocAndFree) {
  for (const char* options : kSetUps) expect_good(options, ADDRESS_OF_FREE_PROGRAM);
}

TEST(LibrariesTest, ProgramsThatNameEnvironKeepTheirEnvironment) {
  for (const char* options : kSetUps)
    for (int i = 0; i < 3; ++i) expect_good(options, ENVIRONMENT_PROGRAM);
}

TEST(LibrariesTest, FunctionsInsideOfFunctionsRunOnExecutableStacks) {
  for (const char* options : kSetUps) expect_good(options, NESTED_FUNCTIONS_PROGRAM);
}

TEST(LibrariesTest, RightsToSharedMemoryHoldOnTheNodeOrAreRefused) {
  for (const char* options : kSetUps) expect_good(options, kRights + " rights");
}

TEST(LibrariesTest, CallsAboutPartsOfSharedMemoryDoWhatTheySay) {
  for (const char* options : kSetUps) expect_good(options, kRights + " parts");
  Outcome outcome = finish(threads("-n 2", kRights + " parts"));
  EXPECT_NE(outcome.err.find("munmap of a part of shared memory"), std::string::npos)
      << outcome.err;
}

class LibrariesOnHostsTest : public OnHosts {};

TEST_F(LibrariesOnHostsTest, LinkedAndOpenedLibrariesAreShared) {
  if (!make_hosts({.hosts = 2})) return;
  for (const std::string& program :
       {kLibraries + " linked", kLibraries + " opened " + kOpened,
        kLibraries + " opened_in_thread " + kOpened,
        kLibraries + " constructed_in_thread " + THREAD_LIBRARY,
        std::string(NESTED_FUNCTIONS_PROGRAM), std::string(ENVIRONMENT_PROGRAM)}) {
    std::string line = std::string(cluster_test::kTerrane) +
                       " threads --heartbeat 20 -H h0,h1 --placement 1 " + program;
    Outcome outcome = run(0, cluster_test::words(line));
    EXPECT_EQ(outcome.exit_code, 0) << program << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << program << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
