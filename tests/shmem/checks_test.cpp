// What a wrong call of the data path comes to: one sentence that names the PE, the call and the
// argument, and the end of the job.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

struct Fault {
  const char* mode;
  const char* sentence;
};

const Fault kAlways[] = {
    {"local", "shmem_long_p: dest at 0x"},
    {"pe", "shmem_long_put: pe 3 does not exist; the context's team has the PEs 0 to 2"},
    {"negative-pe", "shmem_long_atomic_fetch_add: pe -1 does not exist"},
    {"context-pe", "shmem_ctx_int64_g: pe 77 does not exist"},
    {"beyond", "shmem_getmem: source at 0x"},
    {"uncountable", "shmem_long_put: dest at 0x"},
    {"context", "shmem_ctx_long_p: ctx is SHMEM_CTX_INVALID"},
    {"stride", "shmem_long_iput: dst and sst must not be less"},
    {"signal", "shmem_long_put_signal: sig_op 99"},
    {"team", "shmem_team_my_pe: team is no team of this PE"},
    {"low-team", "shmem_team_sync: team is no team of this PE"},
    {"team-pe", "shmem_team_translate_pe: team is no team of this PE"},
    {"destroyed-team", "shmem_broadcastmem: team is no team of this PE, or was destroyed"},
    {"team-context", "shmem_team_create_ctx: team is no team of this PE"},
};
const Fault kChecked[] = {
    {"overlap", "shmem_long_put: source at 0x"},
    {"null", "shmem_long_get: dest is a null pointer"},
    {"unaligned", "shmem_long_atomic_fetch: dest at 0x"},
    {"destroyed", "shmem_ctx_quiet: ctx is no context, or was destroyed"},
    {"freed", "shmem_long_p: dest at 0x"},
    {"block", "its 300 bytes lie in no block of the symmetric heap"},
    {"thread", "shmem_long_p: by another thread than the one that initialised"},
    {"private", "shmem_ctx_long_p: ctx is private to the thread that made it"},
};

const Fault kDiffering[] = {
    {"malloc", "shmem_malloc of 200 bytes (at "},
    {"malloc", ", where PE 0 calls shmem_malloc of 100 bytes: "},
    {"calloc", "shmem_calloc of 100 bytes"},
    {"align", "shmem_align of 100 bytes aligned to 128"},
    {"free", "shmem_free, the block at the offset 64"},
    {"free", ", where PE 0 calls shmem_free, the block at the offset 0: "},
    {"free-null", "shmem_free (at "},
    {"realloc", "shmem_realloc of 200 bytes, the block at the offset 0"},
    {"zero", ", where PE 0 calls shmem_malloc of 100 bytes: "},
    {"type", "shmem_double_sum_reduce (32 bytes, "},
    {"scan-type", "shmem_double_sum_inscan (32 bytes, "},
    {"sync", "shmem_sync_all (at "},
    {"reduce-overlap", "shmem_long_max_reduce: dest at 0x"},
    {"scan-overlap", "shmem_long_sum_exscan: dest at 0x"},
    {"alltoall-place", "shmem_long_alltoall: dest at 0x"},
    {"fcollect-overlap", "shmem_long_fcollect: dest at 0x"},
    {"broadcast-overlap", "shmem_long_broadcast: dest at 0x"},
    {"null-dest", "shmem_long_broadcast: dest is a null pointer, and 8 bytes are needed there"},
    {"null-reduced", "shmem_long_sum_reduce: source is a null pointer"},
    {"lock-twice", "shmem_set_lock: this PE has set the lock at 0x"},
    {"lock-free", "shmem_clear_lock: nobody holds the lock at 0x"},
};

TEST(ShmemFaultTest, WhatAllPesMustDoAlikeIsCompared) {
  for (const Fault& fault : kDiffering)
    expect_sentence(2, fault.mode, fault.sentence, 1, {"SHMEM_DEBUG=1"});
}

TEST(ShmemFaultTest, EndsTheJobWithASentenceInEveryMode) {
  for (const Fault& fault : kAlways) expect_sentence(3, fault.mode, fault.sentence);
}

TEST(ShmemFaultTest, EndsTheJobWhereCallsAreCheckedToo) {
  for (const Fault& fault : kAlways) {
    expect_sentence(3, fault.mode, fault.sentence, 1, {"SHMEM_DEBUG=1"});
  }
}

TEST(ShmemFaultTest, ThoseThatDoNoHarmHereAreFoundWhereCallsAreChecked) {
  for (const Fault& fault : kChecked) {
    expect_sentence(2, fault.mode, fault.sentence, 1, {"SHMEM_DEBUG=1"});
  }
}

TEST(ShmemFaultTest, TheLaunchersOptionChecksCalls) {
  Outcome outcome =
      Launched({kTerrane, "run", "--check=shmem", "-n", "2", SHMEM_PROGRAM, "overlap"}).finish();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("shmem_long_put: source"), std::string::npos) << outcome.err;
  // Where addr2line is and the program has debugging information, the line; else the place.
  EXPECT_NE(outcome.err.find("(at "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("checks_program"), std::string::npos) << outcome.err;
}

// A program is started as whatever its starter likes.
TEST(ShmemFaultTest, ThePlaceOfACallIsNeverNameless) {
  for (const char* name : {"", "odd/", "else"}) {
    std::string command = std::string("exec -a '") + name + "' " + SHMEM_PROGRAM + " overlap";
    Outcome outcome =
        Launched({kTerrane, "run", "--check=shmem", "-n", "2", "bash", "-c", command}).finish();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("checks_program"), std::string::npos) << outcome.err;
  }
}

TEST(ShmemWaitTest, WhoWaitsLongSaysWhere) {
  Outcome outcome =
      run_until_said({"--check=shmem", "-n", "4", "--patience", "0.2", SHMEM_PROGRAM, "waiting"},
                     {"s in shmem_long_wait_until (at ", "s in shmem_set_lock (at ",
                      "s in shmem_barrier_all (at ", "PE 0, 1, 2 has not made it"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("checks_program"), std::string::npos) << outcome.out;
}

TEST(ShmemFaultTest, InlinedCallsOutsideOfTheProgramsPartAreFound) {
  expect_sentence(1, "early", "shmem_long_p before shmem_init");
  expect_sentence(1, "late", "shmem_long_g after shmem_finalize");
}

}  // namespace
}  // namespace terrane::cluster_test
