// One process is one node of one job, whatever front-ends it uses.
#include <gtest/gtest.h>

#include "../hosts/on_hosts.h"

namespace terrane::test_hosts {
namespace {

using cluster_test::kTerrane;
using cluster_test::words;

class HybridTest : public OnHosts {
 protected:
  Outcome here(int nodes, const std::string& options, const std::string& mode) {
    return Launched(words(std::string(kTerrane) + " run -n " + std::to_string(nodes) + " " +
                          options + " " + HYBRID_PROGRAM + " " + mode + " " +
                          std::to_string(nodes)))
        .finish();
  }
};

TEST_F(HybridTest, FrontEndsShareTheNode) {
  for (const char* mode : {"in-turn", "each-others-time", "threads", "child"}) {
    for (const char* transport : {"--transport shm", "--transport ucx"}) {
      for (int nodes : {1, 3}) {
        Outcome outcome = here(nodes, transport, mode);
        EXPECT_EQ(count(outcome.out, "good\n"), nodes) << mode << transport << outcome.out;
        EXPECT_EQ(outcome.err, "") << mode << transport;
        EXPECT_EQ(outcome.exit_code, 0) << mode << transport;
      }
    }
  }
}

TEST_F(HybridTest, TheNodeIsItselfWithoutALauncher) {
  for (const char* mode : {"in-turn", "each-others-time", "threads", "child"}) {
    Outcome outcome = Launched({HYBRID_PROGRAM, mode, "1"}).finish();
    EXPECT_EQ(outcome.out, "good\n") << mode << outcome.err;
  }
}

TEST_F(HybridTest, FrontEndsShareTheNodeOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"in-turn", "each-others-time"})
    expect_good(4, "--heartbeat 20 -H h0:2,h1:2", std::string(HYBRID_PROGRAM) + " " + mode + " 4");
  Outcome example = job("--heartbeat 20 -H h0:2,h1:2", HYBRID_EXAMPLE);
  EXPECT_EQ(example.out, "4 nodes, 100 sweeps: pages, OpenSHMEM and chunks tell the same\n")
      << example.err;
  EXPECT_EQ(example.exit_code, 0);
}

TEST_F(HybridTest, NodesThatBeginInOtherOrdersAreTold) {
  Outcome outcome = here(2, "", "orders");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_GT(count(outcome.out, "the interface is"), 0) << outcome.out << outcome.err;
  EXPECT_GT(count(outcome.out, "in the same order"), 0) << outcome.out;
}

TEST_F(HybridTest, ANodeThatDoesNotComeToAFrontEndIsNamed) {
  Outcome outcome = here(2, "", "one-fewer");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "node 1"), 1) << outcome.out << outcome.err;
}

TEST_F(HybridTest, ADeathEndsWhatCannotGoOnWithoutTheNode) {
  Outcome outcome = here(3, "--on-death survive", "death");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_GT(count(outcome.err, "shared pages cannot go on without node 2"), 0) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
