// Programs as a distribution ships them, compiled without a flag for Terrane: their locked
// instructions are served where they are.
#include <gtest/gtest.h>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = LOCKED_PROGRAM, kLibrary = LOCKED_LIBRARY;
constexpr const char* kSetUps[] = {"-n 1",
                                   "-n 2 --placement 1",
                                   "-n 3 --placement cyclic",
                                   "-n 2 --placement 1 --atomics=trap",
                                   "-n 2 --placement 2 --fault-source uffd-sync",
                                   "-n 2 --placement 1 --fault-source sigsegv --atomics=trap",
                                   "-n 2 --placement 1 --transport ucx"};

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = finish(threads(options, program));
  EXPECT_EQ(outcome.exit_code, 0) << options << ": " << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << options << ": " << outcome.out << outcome.err;
}

TEST(LockedTest, ProgramsOfAnyCompilerLoseNoUpdate) {
  for (const char* options : kSetUps) expect_good(options, kProgram);
}

TEST(LockedTest, SigtrapStaysThePrograms) {
  for (const char* way : {"patch", "trap"})
    expect_good(std::string("-n 2 --placement 1 --atomics=") + way, kProgram + " trap");
}

TEST(LockedTest, LibrariesThatAreOpenedLaterAreServed) {
  for (const char* way : {"patch", "trap"})
    expect_good(std::string("-n 2 --placement 1 --atomics=") + way,
                kProgram + " library " + kLibrary);
}

TEST(LockedTest, AWayThatIsNoneIsRefused) {
  Outcome outcome = finish(threads("-n 2 --atomics=never", kProgram));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "must be patch, trap or refuse"), 1) << outcome.err;
}

class LockedOnHosts : public OnHosts {};

TEST_F(LockedOnHosts, ProgramsOfAnyCompilerLoseNoUpdate) {
  if (!make_hosts({.hosts = 2})) return;
  std::string line = std::string(cluster_test::kTerrane) +
                     " threads --heartbeat 20 -H h0,h1 --placement 1 " + kProgram;
  Outcome outcome = launch(0, cluster_test::words(line)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
