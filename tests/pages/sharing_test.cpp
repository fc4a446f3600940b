// Pages that nodes share, as terrane run --check=sharing reports them.
#include <gtest/gtest.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

Outcome run_checked(const std::string& nodes, const std::string& transport,
                    const std::string& what) {
  Launched job({kTerrane, "run", "-n", nodes, "--transport", transport, "--check=sharing",
                "--check-fails", SHARING_PROGRAM, what},
               {});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << "hangs";
  EXPECT_EQ(count(outcome.out, "good"), std::stoi(nodes)) << outcome.out << outcome.err;
  return outcome;
}

// Over shared memory, and over a network.
TEST(SharingTest, CountersOfOnePageAreFalseSharing) {
  for (const char* transport : {"shm", "ucx"}) {
    Outcome outcome = run_checked("2", transport, "counters");
    EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
    EXPECT_NE(outcome.err.find("false sharing: node 0 writes counters, bytes 0 to 1; node 1 writes "
                               "counters, bytes 4 to 5"),
              std::string::npos)
        << transport << ": " << outcome.err;
  }
}

TEST(SharingTest, CountersOfPagesOfTheirOwnAreNot) {
  for (const char* nodes : {"2", "3"}) {
    Outcome outcome = run_checked(nodes, "shm", "padded");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("false sharing: "), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::cluster_test
