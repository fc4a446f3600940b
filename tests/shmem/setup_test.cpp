// How PEs come and go: under the launcher, alone, in order and not.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

TEST(ShmemSetupTest, PesJoinAskAndLeave) {
  for (int pes : {1, 2, 4}) expect_good(pes, "join");
}
TEST(ShmemSetupTest, EveryThreadLevelIsProvided) { expect_good(2, "threads"); }
TEST(ShmemSetupTest, InitialisationsAreCountedAndMayBeRepeated) { expect_good(3, "again"); }
TEST(ShmemSetupTest, StartPesIsEndedByTheExit) { expect_good(2, "start-pes"); }

TEST(ShmemSetupTest, TheExitEndsWhatTheProgramDoesNot) {
  for (int pes : {1, 3}) expect_good(pes, "not-finalized");
  Launched job({kTerrane, "run", "--check=shmem", "-n", "2", SHMEM_PROGRAM, "not-finalized"});
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("this PE ends without shmem_finalize"), std::string::npos);
}

TEST(ShmemSetupTest, ThreadsOfAPeShareALock) {
  for (int pes : {1, 2}) expect_good(pes, "lock-threads");
}

TEST(ShmemSetupTest, AProgramWithoutTheLauncherIsAJobOfOne) {
  for (const char* mode : {"join", "again", "start-pes"}) {
    Launched alone({SHMEM_PROGRAM, mode});
    Outcome outcome = alone.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "good\n");
  }
}

TEST(ShmemSetupTest, GlobalExitEndsTheJobQuietlyWithItsStatus) {
  for (int code : {0, 37}) {
    Outcome outcome = run_pes(3, code == 0 ? "exit-0" : "exit-37");
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("written"), std::string::npos);
  }
  Launched alone({SHMEM_PROGRAM, "exit-37"});
  EXPECT_EQ(alone.finish().exit_code, 37);
}

TEST(ShmemBadInputTest, CallsOutsideAreNamed) {
  expect_sentence(1, "early", "shmem_my_pe before shmem_init");
  expect_sentence(1, "late", "shmem_n_pes after shmem_finalize");
  expect_sentence(1, "bad-thread-level", "shmem_init_thread: level 17");
}

TEST(ShmemDeathTest, WhoeverGoesInDisorderEndsTheJobWithASentence) {
  expect_sentence(2, "exits-with-3", "node 1", 3);
  expect_sentence(2, "exits-early", "node 1");
  expect_sentence(2, "killed", "SIGKILL", 128 + 9);
  expect_sentence(2, "no-return", "has left the job already");
}

TEST(ShmemDeathTest, NobodyWaitsForAPeThatTheJobSurvives) {
  Launched job({kTerrane, "run", "--on-death", "survive", "-n", "2", SHMEM_PROGRAM, "killed"});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 128 + 9);
  EXPECT_NE(outcome.err.find("OpenSHMEM cannot go on without PE 1"), std::string::npos)
      << outcome.err;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

}  // namespace
}  // namespace terrane::cluster_test
