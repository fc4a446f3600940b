// Threads on several nodes that synchronise by ordinary loads and stores of pages with atomics.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = FLAGS_PROGRAM;

TEST(FlagsTest, OrdinaryLoadsAndStoresSynchroniseByPatchedCode) {
  expect_good("-n 1", kProgram);
  expect_good("-n 3 --placement 1", kProgram);
}

TEST(FlagsTest, TheySynchroniseByTraps) {
  expect_good("-n 2 --placement 1 --atomics=trap", kProgram);
}

TEST(FlagsTest, TheySynchroniseWithEachWriteDetection) {
  expect_good("-n 3 --placement 1 --fault-source uffd-sync", kProgram);
  expect_good("-n 2 --placement 1 --fault-source sigsegv", kProgram);
}

TEST(FlagsTest, TheySynchroniseByMessages) {
  expect_good("-n 3 --placement 1 --transport ucx", kProgram);
}

using FlagsOnHosts = GoodOnHosts;

TEST_F(FlagsOnHosts, OrdinaryLoadsAndStoresSynchronise) { expect_good_on_hosts(kProgram); }

}  // namespace
}  // namespace terrane::test_hosts
