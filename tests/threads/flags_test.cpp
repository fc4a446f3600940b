// Threads on several nodes that synchronise by ordinary loads and stores of pages with atomics.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = FLAGS_PROGRAM;

void expect_good(const std::string& options) {
  Outcome outcome = finish(threads(options, kProgram));
  EXPECT_EQ(outcome.exit_code, 0) << options << ": " << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << options << ": " << outcome.out << outcome.err;
}

TEST(FlagsTest, OrdinaryLoadsAndStoresSynchroniseByPatchedCode) {
  expect_good("-n 1");
  expect_good("-n 3 --placement 1");
}

TEST(FlagsTest, TheySynchroniseByTraps) { expect_good("-n 2 --placement 1 --atomics=trap"); }

TEST(FlagsTest, TheySynchroniseWithEachWriteDetection) {
  expect_good("-n 3 --placement 1 --fault-source uffd-sync");
  expect_good("-n 2 --placement 1 --fault-source sigsegv");
}

TEST(FlagsTest, TheySynchroniseByMessages) { expect_good("-n 3 --placement 1 --transport ucx"); }

class FlagsOnHosts : public OnHosts {};

TEST_F(FlagsOnHosts, OrdinaryLoadsAndStoresSynchronise) {
  if (!make_hosts({.hosts = 2})) return;
  std::string line = std::string(cluster_test::kTerrane) +
                     " threads --heartbeat 20 -H h0,h1 --placement 1 " + kProgram;
  Outcome outcome = launch(0, cluster_test::words(line)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
