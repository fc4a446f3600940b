// Static data as symmetric memory: of programs built in every way, of their libraries, and in
// children.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

Outcome run_program(const std::string& program, int pes, const std::string& mode) {
  Launched job({kTerrane, "run", "-n", std::to_string(pes), program, mode});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  return outcome;
}

TEST(ShmemStaticsTest, DataOfProgramAndLibrariesAreSymmetric) {
  for (int pes : {1, 2, 4}) expect_good(pes, "symmetric");
}
TEST(ShmemStaticsTest, AProgramAtAFixedAddressHasThemToo) {
  Outcome outcome = run_program(SHMEM_PROGRAM "_fixed", 2, "symmetric");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 2);
}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ShmemStaticsTest, DataAreMovedBeforeAnyConstructorRuns) {
  Launched alone({SHMEM_PROGRAM, "moved-first"});
  Outcome outcome = alone.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}
#endif
TEST(ShmemStaticsTest, WhatNobodyTouchedTakesNoMemory) { expect_good(2, "sparse"); }
TEST(ShmemStaticsTest, LibrariesOpenedAtRunTimeJoin) {
  expect_good(3, "opened-later");
  expect_good(3, "opened-before");
}
TEST(ShmemStaticsTest, CallsReachAllKindsOfMemory) { expect_good(3, "exchanged"); }
TEST(ShmemStaticsTest, ProgramsThatDifferAreRefused) {
  Launched job({kTerrane, "run", "-n", "2", "sh", "-c",
                std::string("[ $TERRANE_NODE = 0 ] && exec " SHMEM_PROGRAM
                            " symmetric; exec " SHMEM_PROGRAM "_fixed symmetric")});
  Outcome outcome = job.finish();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("runs another program than PE"), std::string::npos) << outcome.err;
}

TEST(ShmemChildTest, AChildHasStaticDataOfItsOwn) { expect_good(2, "forked"); }
TEST(ShmemChildTest, TheShellRunsAndNothingChanges) { expect_good(2, "shell"); }
TEST(ShmemChildTest, CallsInAChildAreNamedAndItsParentGoesOn) {
  Outcome outcome = run_pes(2, "call-in-child");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.err, "shmem_my_pe in a child of this PE"), 2) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
