// Frames of thread 0 in a region, beside an atomic variable in a frame around it.
#include <sstream>

#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

// Without pages of their own its stores take the variable's page from the other node, and each
// count takes it back.
TEST(OmpFramesTest, StoresToAFrameDoNotMoveAnAtomicVariableAround) {
  Outcome outcome = run_omp("-n 2 --threads 1 --stats", FRAMES_PROGRAM);
  EXPECT_EQ(count(outcome.out, "good"), 1) << outcome.out << outcome.err;
  std::size_t at = outcome.err.find("main._omp_fn.0");
  if (at == std::string::npos) at = outcome.err.find("frames_program.c:");
  ASSERT_NE(at, std::string::npos) << outcome.err;
  std::istringstream words(outcome.err.substr(at));
  std::string region, seconds;
  std::uint64_t calls = 0, faults = 0;
  words >> region >> calls >> seconds >> faults;
  EXPECT_EQ(calls, 1u) << outcome.err;
  EXPECT_LE(faults, 100u) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
