// Gateways and links that are lost: with one gateway each cluster the job ends everywhere, with one
// sentence; with two it goes on, and its result is right.
//
// TERRANE_GATEWAY_FAULTS: how many random faults are injected.
#include <signal.h>

#include <cstdlib>

#include "base/prng.h"
#include "on_clusters.h"

namespace terrane::test_hosts {
namespace {

class GatewayFaultsTest : public OnClusters {
 protected:
  static constexpr char kRounds[] = FAULT_PROGRAM " --rounds 300";

  static std::string quick(std::string options) {
    const std::string patient = "--heartbeat 20";
    return options.replace(options.find(patient), patient.size(), "--heartbeat 2 --death-after 4");
  }
  void hit(std::uint32_t host, int signal) {
    pid_t victim = gateway_on(host);
    if (victim > 0) ::kill(victim, signal);
  }
  // The process above the gateway; -1: none.
  pid_t watcher_on(std::uint32_t host) {
    for (const Process& process : hosts().processes(host))
      if (is_gateway(process)) return process.parent;
    return -1;
  }
  void expect_end(Launched& job, const std::vector<std::string>& parts) {
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.out << outcome.err;
    expect_one_sentence(outcome, parts);
  }
  void expect_right(Launched& job, int nodes, const std::string& said) {
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.out << outcome.err;
    EXPECT_GT(count(outcome.err, said), 0) << outcome.err;
    expect_clean();
  }
};

TEST_F(GatewayFaultsTest, ALostGatewayEndsTheJobEverywhere) {
  if (!make_clusters("2x2")) return;
  for (std::uint32_t host : {0u, 2u}) {
    Launched job = start(quick(kTwo), FAULT_PROGRAM);
    ASSERT_TRUE(job.wait_for("up\n"));
    hit(host, SIGKILL);
    expect_end(job, {"gateway", fmt::format("h{}", host)});
  }
}

TEST_F(GatewayFaultsTest, AStoppedGatewayEndsTheJobEverywhere) {
  if (!make_clusters("2x2")) return;
  for (std::uint32_t host : {0u, 2u}) {
    Launched job = start(quick(kTwo), FAULT_PROGRAM);
    ASSERT_TRUE(job.wait_for("up\n"));
    hit(host, SIGSTOP);
    expect_end(job, {"gateway", fmt::format("h{}", host)});
  }
}

// It cannot see by itself that the gateway has ended.
TEST_F(GatewayFaultsTest, AStoppedWatcherOfAGatewayIsGoneWithTheJob) {
  if (!make_clusters("2x2")) return;
  Launched job = start(kTwo, FAULT_PROGRAM " --rounds 30");
  ASSERT_TRUE(job.wait_for("up\n"));
  pid_t watcher = watcher_on(2);
  ASSERT_GT(watcher, 0);
  ASSERT_EQ(::kill(watcher, SIGSTOP), 0);
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_clean();
}

TEST_F(GatewayFaultsTest, ALinkThatIsUpAndSilentEndsTheJobEverywhere) {
  if (!make_clusters("2x2")) return;
  Launched job = start(quick(kTwo), FAULT_PROGRAM);
  ASSERT_TRUE(job.wait_for("up\n"));
  ASSERT_TRUE(hosts().set_crossing(0, 1, LinkState::kSilent).ok());
  expect_end(job, {"gateway"});
}

TEST_F(GatewayFaultsTest, WithTwoGatewaysOfEachClusterTheJobGoesOnWithoutOne) {
  if (!make_clusters("2x3", 2)) return;
  for (std::uint32_t host : {0u, 1u, 3u, 4u}) {
    Launched job = start(quick(kTwoGatewaysEach), kRounds);
    ASSERT_TRUE(job.wait_for("up\n"));
    hit(host, SIGKILL);
    expect_right(job, 6, "another way is left, the job goes on");
  }
}

// The process above it ends it, so that others lose their connections to it, and use other ways.
TEST_F(GatewayFaultsTest, WithTwoGatewaysOfEachClusterTheJobGoesOnWithoutAStoppedOne) {
  if (!make_clusters("2x3", 2)) return;
  for (std::uint32_t host : {0u, 4u}) {
    Launched job = start(quick(kTwoGatewaysEach), kRounds);
    ASSERT_TRUE(job.wait_for("up\n"));
    hit(host, SIGSTOP);
    expect_right(job, 6, "another way is left, the job goes on");
  }
}

TEST_F(GatewayFaultsTest, RandomFaultsLeaveNothing) {
  if (!make_clusters("2x3", 2)) return;
  const char* wanted = std::getenv("TERRANE_GATEWAY_FAULTS");
  int faults = wanted != nullptr ? std::atoi(wanted) : 6;
  constexpr std::uint32_t kGateways[] = {0, 1, 3, 4};
  base::Prng chance(42);
  for (int number = 0; number < faults; ++number) {
    bool has_two = chance.chance(50);
    bool is_early = chance.chance(30);
    std::uint32_t host = has_two ? kGateways[chance.below(4)] : kGateways[2 * chance.below(2)];
    int signal = chance.chance(30) ? SIGSTOP : SIGKILL;
    std::uint32_t pause_ms = chance.below(is_early ? 150 : 400);
    std::string options = has_two ? kTwoGatewaysEach
                                  : "--heartbeat 20 -H h1,h2,h4,h5 --clusters a:h1,h2/b:h4,h5 "
                                    "--gateways a:h0/b:h3";
    SCOPED_TRACE(fmt::format("fault {}: signal {} to the gateway on h{} {} ms after {}, {}", number,
                             signal, host, pause_ms, is_early ? "the start" : "the first barrier",
                             has_two ? "two gateways each" : "one gateway each"));
    Launched job = start(quick(options), kRounds);
    bool is_up = is_early || job.wait_for("up\n");
    ASSERT_TRUE(is_up) << job.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    hit(host, signal);
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.out << outcome.err;
    // A gateway that is lost while nodes connect ends the job, also where there is another one.
    bool is_right = outcome.exit_code == 0;
    EXPECT_TRUE(is_right || !has_two || is_early) << outcome.err;
    if (is_right) {
      EXPECT_EQ(count(outcome.out, "good"), has_two ? 6 : 4) << outcome.out;
    } else if (!is_early) {
      EXPECT_GT(count(outcome.err, "gateway"), 0) << outcome.err;
      EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
    }
    expect_clean();
  }
}

}  // namespace
}  // namespace terrane::test_hosts
