// Locks, on real processes.
#include <gtest/gtest.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

// Over shared memory, and over a network.
TEST(LocksTest, GoToWhoWantsThemAlthoughTheHandlerHasNoProcessor) {
  for (const char* transport : {"shm", "ucx"}) {
    Launched job({kTerrane, "run", "-n", "2", "--bind-to", "core", "--transport", transport,
                  LOCKS_PROGRAM, "fair"},
                 {});
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << "hangs";
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 2) << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::cluster_test
