// Programs over clusters that only gateways join: right results, output, exit codes, no litter.
#include <signal.h>

#include "on_clusters.h"

namespace terrane::test_hosts {
namespace {

class GatewayProgramsTest : public OnClusters {
 protected:
  void all_good(int nodes, const std::string& options, const std::string& program,
                std::initializer_list<const char*> modes) {
    for (const char* mode : modes) expect_good(nodes, options, program + " " + mode);
    expect_clean();
  }
};

const std::string kNode = cluster_test::kNodeProgram;

TEST_F(GatewayProgramsTest, PagesWorkThroughGateways) {
  if (!make_clusters("2x2")) return;
  all_good(4, kTwo, PAGES_PROGRAM,
           {"basics", "writers", "semaphores", "conditions", "reductions", "evict"});
  Outcome outcome = job(kTwo, STRESS_PROGRAM " --seconds 1 --threads 2 --seed 7");
  EXPECT_EQ(count(outcome.out, ": good"), 1) << outcome.out << outcome.err;
}

TEST_F(GatewayProgramsTest, OneSidedCallsAndCollectivesOfOpenShmemWorkThroughGateways) {
  if (!make_clusters("2x2")) return;
  all_good(4, kTwo, SETUP_PROGRAM, {"join", "threads"});
  all_good(4, kTwo, RMA_PROGRAM, {"types", "sizes", "signals", "contexts"});
  all_good(4, kTwo, COLLECTIVE_PROGRAM, {"data", "kinds", "waits", "locks"});
}

TEST_F(GatewayProgramsTest, SubscribersOfChunksGetVersionsThroughGateways) {
  if (!make_clusters("2x2")) return;
  all_good(4, kTwo, CHUNKS_PROGRAM, {"subscriptions", "handlers", "chains", "meetings"});
  all_good(4, std::string("--memory 1G ") + kTwo, CHUNKS_PROGRAM, {"scopes"});
}

#ifdef KMEANS
TEST_F(GatewayProgramsTest, ThreadsOfAnOrdinaryProgramRunInBothClusters) {
  if (!make_clusters("2x2")) return;
  std::string line =
      std::string(cluster_test::kTerrane) + " threads " + kTwo + " " KMEANS " 4 2000";
  Outcome outcome = launch(0, cluster_test::words(line)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  expect_clean();
}
#endif

TEST_F(GatewayProgramsTest, TwoNodesOnEachHostShareMemoryAndTheOthersUseGateways) {
  if (!make_clusters("2x2")) return;
  constexpr char kEight[] =
      "--heartbeat 20 -H h0:2,h1:2,h2:2,h3:2 --clusters a:h0,h1/b:h2,h3 --gateways a:h0/b:h2";
  all_good(8, kEight, PAGES_PROGRAM, {"basics", "writers"});
  all_good(8, kEight, RMA_PROGRAM, {"types"});
}

TEST_F(GatewayProgramsTest, AGatewayNeedsNoNodesOnItsHost) {
  if (!make_clusters("2x2")) return;
  all_good(2, "--heartbeat 20 -H h1,h3 --clusters a:h1/b:h3 --gateways a:h0/b:h2", PAGES_PROGRAM,
           {"basics", "writers"});
}

TEST_F(GatewayProgramsTest, TwoGatewaysOfEachClusterShareTheWork) {
  if (!make_clusters("2x3", 2)) return;
  all_good(6, kTwoGatewaysEach, PAGES_PROGRAM, {"basics", "writers"});
  all_good(6, kTwoGatewaysEach, RMA_PROGRAM, {"types"});
  all_good(6, kTwoGatewaysEach, CHUNKS_PROGRAM, {"subscriptions"});
}

// The router drops what the first and the last cluster send to each other.
TEST_F(GatewayProgramsTest, AClusterBetweenTwoOthersJoinsThem) {
  if (!make_clusters("3x2")) return;
  ASSERT_TRUE(hosts().set_crossing(0, 2, LinkState::kSilent).ok());
  write_file("/tmp/three.toml", kThreeInALine);
  for (const char* order : {"h0,h1,h2,h3,h4,h5", "h4,h5,h2,h3,h0,h1"})
    all_good(6, std::string("--heartbeat 20 --topology /tmp/three.toml -H ") + order, PAGES_PROGRAM,
             {"basics", "writers"});
}

TEST_F(GatewayProgramsTest, OutputInputAndExitCodesPassThroughGateways) {
  if (!make_clusters("2x2")) return;
  Outcome outcome = job(std::string(kTwo) + " --tag-output",
                        kNode + " join exchange:100:0 say:hello exchange:100:1 leave");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* line : {"[0] hello\n", "[1] hello\n", "[2] hello\n", "[3] hello\n"})
    EXPECT_EQ(count(outcome.out, line), 1) << outcome.out;
  outcome = job(kTwo, kNode + " join exchange:100:0 @3 exit:7");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  expect_one_sentence(outcome, {"node 3 ", "on h3", "exited with code 7"});
  outcome = job(kTwo, kNode + " join exchange:100:0 @2 kill:9");
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
  expect_one_sentence(outcome, {"node 2 ", "on h2", "SIGKILL"});
  std::string run = std::string(cluster_test::kTerrane) + " run " + kTwo + " cat";
  EXPECT_EQ(shell(0, "echo word | " + run).out, "word\n");
  // Node 0 may be in another cluster than the hub.
  run = std::string(cluster_test::kTerrane) +
        " run --heartbeat 20 -H h3,h1 --clusters b:h3/a:h1 --gateways a:h0/b:h2 cat";
  EXPECT_EQ(shell(0, "echo word | " + run).out, "word\n");
  expect_clean();
}

TEST_F(GatewayProgramsTest, TimeoutsAndInterruptsEndTheJobInBothClusters) {
  if (!make_clusters("2x2")) return;
  Outcome outcome = job(std::string(kTwo) + " --timeout 1", kNode + " join exchange:0:0 hang");
  EXPECT_EQ(outcome.exit_code, 124) << outcome.err;
  expect_one_sentence(outcome, {"--timeout"});
  Launched interrupted = start(kTwo, kNode + " join exchange:0:0 say:up hang");
  ASSERT_TRUE(interrupted.wait_for("up\n", 4));
  for (const Process& process : hosts().processes(0))
    if (process.words.size() > 1 && process.words[1] == "run") ::kill(process.pid, SIGINT);
  outcome = interrupted.finish();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 128 + SIGINT) << outcome.err;
  expect_clean();
}

TEST_F(GatewayProgramsTest, StatisticsComeFromAllClusters) {
  if (!make_clusters("2x2")) return;
  Outcome outcome = job(std::string(kTwo) + " --stats", PAGES_PROGRAM " basics");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"node 0", "node 3", "other clusters"})
    EXPECT_GT(count(outcome.err, part), 0) << part << ": " << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
