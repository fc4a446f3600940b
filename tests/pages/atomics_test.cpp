// std::atomic in shared memory, on real processes: as calls of the library, and found in programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

Outcome check(const std::string& program, std::vector<std::string> environment = {}) {
  Launched::Options options;
  options.environment = std::move(environment);
  return Launched({kTerrane, "check-binary", program}, std::move(options)).finish();
}

#ifdef TERRANE_HAS_NO_INLINE_ATOMICS
TEST(AtomicsTest, AsCallsWorkBetweenNodes) {
  for (const char* transport : {"shm", "ucx"})
    for (const char* nodes : {"1", "3"}) {
      Launched job({kTerrane, "run", "-n", nodes, "--transport", transport, ATOMICS_PROGRAM});
      Outcome outcome = job.finish();
      EXPECT_FALSE(outcome.timed_out) << "hangs";
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(count(outcome.out, "good"), std::stoi(nodes)) << outcome.out << outcome.err;
    }
}
#endif

#ifdef __x86_64__
TEST(AtomicsTest, InstructionsAreFoundInAProgramWithTheirFunction) {
  Outcome outcome = check(INLINED_PROGRAM);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(count(outcome.out, "work((anonymous namespace)::Shared*, int, int)"), 1) << outcome.out;
  EXPECT_EQ(count(outcome.out, "TERRANE_PROTOCOL_SC"), 1) << outcome.out;
  EXPECT_EQ(count(outcome.out, "-fno-inline-atomics"), 1) << outcome.out;
}

#ifdef TERRANE_HAS_NO_INLINE_ATOMICS
TEST(AtomicsTest, CallsAreNoInstructions) {
  Outcome outcome = check(ATOMICS_PROGRAM);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
}
#endif

TEST(AtomicsTest, ARunChecksItsProgramAndRunsIt) {
  Launched job({kTerrane, "run", "-n", "1", "--check=pages", INLINED_PROGRAM});
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << outcome.out;
  EXPECT_EQ(count(outcome.err, "locked instructions in "), 1) << outcome.err;
}

TEST(AtomicsTest, WhatCannotBeCheckedIsSaid) {
  Outcome outcome = check(INLINED_PROGRAM, {"PATH=/no/such/folder"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(count(outcome.err, "install the package binutils"), 1) << outcome.err;
  outcome = check("/no/such/program");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
  base::TestFolder folder;
  std::string script = folder / "script";
  std::ofstream(script) << "#!/bin/sh\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  outcome = check(script);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(count(outcome.err, "is no executable file (ELF)"), 1) << outcome.err;
}
#endif

}  // namespace
}  // namespace terrane::cluster_test
