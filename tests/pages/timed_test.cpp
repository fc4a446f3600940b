// Waits with a time limit, on real processes.
#include <gtest/gtest.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

TEST(TimedTest, WaitsEndInTimeOrSeeWhatWasWrittenBefore) {
  for (const char* transport : {"shm", "ucx"}) {
    Outcome outcome =
        Launched({kTerrane, "run", "-n", "3", "--transport", transport, TIMED_PROGRAM}).finish();
    EXPECT_EQ(outcome.exit_code, 0) << transport << outcome.err;
    EXPECT_EQ(outcome.out, "good\ngood\ngood\n") << transport << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::cluster_test
