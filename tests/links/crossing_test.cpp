// Jobs on two clusters that a router joins: what crosses the link, counted.
#include <regex>

#include "on_hosts.h"
#include "tools/hosts/options.h"

namespace terrane::test_hosts {
namespace {

class CrossingTest : public OnHosts {
 protected:
  static constexpr char kTwo[] =
      "--heartbeat 20 --stats -H h0,h1,h2,h3,h4,h5 --clusters a:h0,h1,h2/b:h3,h4,h5";

  bool make_clusters() {
    HostOptions options{.clusters = "2x3"};
    EXPECT_TRUE(parse_clusters(options).ok());
    return make_hosts(options);
  }
  struct Crossed {
    double messages = 0;
    double bytes = 0;
  };
  Crossed crossed_by(const std::string& program) {
    Outcome outcome = job(kTwo, program);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    Crossed crossed;
    std::regex line("to other clusters: ([0-9]+) messages, ([0-9]+) bytes");
    auto found = std::sregex_iterator(outcome.err.begin(), outcome.err.end(), line);
    for (; found != std::sregex_iterator(); ++found) {
      crossed.messages += std::stod((*found)[1]);
      crossed.bytes += std::stod((*found)[2]);
    }
    return crossed;
  }
};

// Three nodes write 192 pages, and three of the other cluster read them, again and again.
TEST_F(CrossingTest, APushedPageCrossesTheLinkOnceForAllItsReaders) {
  if (!make_clusters()) return;
  constexpr double kRounds = 60, kBytes = 192 * 4096;
  Crossed few = crossed_by(PUSHES_PROGRAM " 12");
  Crossed many = crossed_by(PUSHES_PROGRAM " 72");
  double times = (many.bytes - few.bytes) / (kRounds * kBytes);
  EXPECT_GT(times, 0.9);
  EXPECT_LT(times, 1.2);
}

TEST_F(CrossingTest, FirstWritesOfANodesOwnRegionStayInItsCluster) {
  if (!make_clusters()) return;
  Crossed few = crossed_by(CLAIMS_PROGRAM " 64");
  Crossed many = crossed_by(CLAIMS_PROGRAM " 4096");
  EXPECT_LT(many.messages - few.messages, 10);
}

TEST_F(CrossingTest, AVersionOfAChunkCrossesTheLinkOnceForAllItsSubscribers) {
  if (!make_clusters()) return;
  expect_good(6, kTwo, CHUNKS_PROGRAM " crossing");
  for (const char* mode : {"subscriptions", "handlers", "parts", "chains", "hints", "once"})
    expect_good(6, kTwo, std::string(CHUNKS_PROGRAM " ") + mode);
}

// No other option names the hosts: it was a job of one node, in silence.
TEST_F(CrossingTest, TheClustersNameTheHostsOfTheJob) {
  if (!make_clusters()) return;
  Outcome outcome = job("--heartbeat 20 -v --clusters a:h0,h1/b:h3,h4",
                        cluster_test::kNodeProgram + std::string(" join exchange:0:0 leave"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* host : {"host h0", "host h1", "host h3", "host h4"})
    EXPECT_NE(outcome.err.find(host), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("host h2"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
