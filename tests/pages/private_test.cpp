// Pointers that only one node may use, and shared memory that is there no more.
#include <gtest/gtest.h>

#include <csignal>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

constexpr const char* kPrivate = "is good on the node alone that stored it";

Outcome run_private(const std::vector<std::string>& options, const std::string& mode) {
  std::vector<std::string> command{kTerrane, "run", "-n", "2"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {PRIVATE_PROGRAM, mode});
  Outcome outcome = Launched(command).finish();
  EXPECT_FALSE(outcome.timed_out) << outcome.err;
  return outcome;
}

void expect_death(const Outcome& outcome, int signal_number, const std::string& sentence) {
  EXPECT_EQ(outcome.exit_code, 128 + signal_number) << outcome.err;
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

class PrivateTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(FaultSources, PrivateTest, every_fault_source(), fault_source_name);

TEST(AddressesTest, FunctionsOfOneNodeAreFunctionsOfAll) {
  for (const char* mode : {"function", "virtual_function"}) {
    Outcome outcome = run_private({}, mode);
    EXPECT_EQ(outcome.out, "good\ngood\n") << mode << ": " << outcome.err;
  }
}

TEST(AddressesTest, RandomOnesAreToldWhenANodeDies) {
  for (const char* mode : {"function", "virtual_function"})
    expect_death(run_private({"--randomize"}, mode), SIGSEGV, kPrivate);
}

TEST(AddressesTest, ANullPointerIsNobodysMemory) {
  Outcome outcome = run_private({}, "null");
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV) << outcome.err;
  EXPECT_EQ(outcome.err.find(kPrivate), std::string::npos) << outcome.err;
}

TEST_P(PrivateTest, FreedMemoryIsTold) {
  bool is_sigsegv = std::string(GetParam()) == "sigsegv";
  expect_death(run_private({"--fault-source", GetParam()}, "freed"), is_sigsegv ? SIGSEGV : SIGBUS,
               "in shared memory that was freed");
}

TEST_P(PrivateTest, MemoryOfNoAllocationIsTold) {
  bool is_sigsegv = std::string(GetParam()) == "sigsegv";
  expect_death(run_private({"--fault-source", GetParam()}, "never_allocated"),
               is_sigsegv ? SIGSEGV : SIGBUS, "in no allocation");
}

TEST_P(PrivateTest, UseAfterFinalizeIsTold) {
  expect_death(run_private({"--fault-source", GetParam()}, "after_finalize"), SIGSEGV,
               "was used after terrane_finalize");
}

}  // namespace
}  // namespace terrane::cluster_test
