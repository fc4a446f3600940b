// The symmetric heap on real processes: what works, and how bad input is answered.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

TEST(ShmemHeapTest, BlocksAreSymmetricAndReachedByAllPes) {
  for (int pes : {1, 2, 4}) expect_good(pes, "blocks");
}
TEST(ShmemHeapTest, AlignmentsArePowersOfTwo) { expect_good(2, "alignments"); }
TEST(ShmemHeapTest, CallocGivesZerosAlsoWhereSomethingWas) { expect_good(2, "zeroed"); }
TEST(ShmemHeapTest, ReallocKeepsTheContents) { expect_good(3, "resized"); }
TEST(ShmemHeapTest, WhatTheMachineHasNotIsRefusedToAllPesAlike) {
  for (int pes : {1, 2, 4}) expect_good(pes, "beyond");
}
TEST(ShmemHeapTest, FreedMemoryGoesBackToTheMachine) { expect_good(2, "given-back"); }
TEST(ShmemHeapTest, TheLastFinalizeEndsAllBlocks) { expect_good(2, "after-finalize"); }
TEST(ShmemHeapTest, ItGrowsWhateverSymmetricSizeSays) {
  for (const char* size :
       {"SHMEM_SYMMETRIC_SIZE=0", "SHMEM_SYMMETRIC_SIZE=", "SHMEM_SYMMETRIC_SIZE=1m",
        "SHMEM_SYMMETRIC_SIZE=.5g", "SMA_SYMMETRIC_SIZE=20kk"})
    expect_good(2, "large", {size});
}

TEST(ShmemBadInputTest, WhatIsNoBlockIsNamed) {
  const char* part = "is not the start of a block of the symmetric heap";
  expect_sentence(1, "freed-twice", part);
  expect_sentence(1, "freed-inside", part);
  expect_sentence(1, "freed-local", part);
  expect_good(2, "bad-alignment");
  expect_sentence(1, "bad-alignment", "shmem_align: alignment 24", 1, {"SHMEM_DEBUG=1"});
  expect_sentence(1, "alignments", "shmem_align: alignment 1 is not a power of two and a multiple",
                  1, {"SHMEM_DEBUG=1"});
  expect_sentence(1, "bad-pe", "shmem_ptr: PE 1 does not exist");
}

TEST(ShmemBadInputTest, WrongVariablesAreNamed) {
  expect_sentence(1, "large", "SHMEM_SYMMETRIC_SIZE: 'lots' is not a size", 1,
                  {"SHMEM_SYMMETRIC_SIZE=lots"});
  expect_sentence(1, "large", "SMA_SYMMETRIC_SIZE: '-3' is not a size", 1,
                  {"SMA_SYMMETRIC_SIZE=-3"});
  expect_sentence(1, "large", "ask for less", 1, {"SHMEM_SYMMETRIC_SIZE=200t"});
}

TEST(ShmemVariablesTest, VersionAndInfoArePrintedOnce) {
  Outcome outcome = run_pes(3, "large", {"SHMEM_VERSION=1", "SMA_INFO="});
  EXPECT_EQ(count(outcome.err, "(OpenSHMEM 1.6)\n"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "SHMEM_SYMMETRIC_SIZE "), 1) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
