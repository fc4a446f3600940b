// Gateways that are started by hand, start late, or have a wrong key or version; and what passes on
// the wire.
#include <signal.h>

#include "on_clusters.h"

namespace terrane::test_hosts {
namespace {

class GatewayStartTest : public OnClusters {
 protected:
  static constexpr char kByHand[] =
      "[[clusters]]\nname = 'a'\nhosts = ['h0', 'h1']\n"
      "[[clusters]]\nname = 'b'\nhosts = ['h2', 'h3']\n"
      "[[gateways]]\ncluster = 'a'\nhost = 'h0'\nport = 7100\n"
      "[[gateways]]\ncluster = 'b'\nname = 'gb'\nby_hand = true\n";
  static constexpr char kRun[] =
      "--heartbeat 20 --topology /tmp/hand.toml --key /tmp/key -H h0,h1,h2,h3";

  // The key of the job on the first host, as a copy that only its owner reads on another.
  void copy_key(std::uint32_t host) {
    std::string key = shell(0, "cat /tmp/key").out;
    EXPECT_EQ(shell(host, "umask 077; echo " + key.substr(0, key.find('\n')) + " > /tmp/key").out,
              "");
  }
  Launched gateway(std::uint32_t host, const std::string& options) {
    return launch(host,
                  cluster_test::words(std::string(cluster_test::kTerrane) + " gateway " + options));
  }
};

TEST_F(GatewayStartTest, AGatewayStartedByHandJoinsItsCluster) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  for (const char* more : {"", " --encrypt"}) {
    Launched job = start(std::string(kRun) + more, PAGES_PROGRAM " basics");
    for (int tries = 0; tries < 5000 && gateway_on(0) < 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    copy_key(2);
    Launched by_hand = gateway(2, std::string("--name gb --via h0:7100 --key /tmp/key") + more);
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
    EXPECT_EQ(by_hand.finish().exit_code, 0) << by_hand.err();
    expect_clean();
  }
}

TEST_F(GatewayStartTest, AGatewayThatIsMissingIsNamed) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  expect_one_sentence(job(std::string(kRun) + " --start-timeout 1", "true"),
                      {"gateway gb", "terrane gateway --name gb", "--start-timeout"});
}

TEST_F(GatewayStartTest, AWrongKeyIsRefusedOnBothSides) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  shell(2, "umask 077; head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n' > /tmp/key");
  Launched job = start(std::string(kRun) + " --start-timeout 4", "true");
  Outcome refused = gateway(2, "--name gb --via h0:7100 --key /tmp/key --dial-ms 2000").finish();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(count(refused.err, "\n"), 1) << refused.err;
  EXPECT_GT(count(refused.err, "gateway gb reaches no other one"), 0) << refused.err;
  expect_one_sentence(job.finish(), {"gateway gb"});
}

}  // namespace
}  // namespace terrane::test_hosts
