// Chunks over several hosts: the same programs, memory and ends as on one.
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

class ChunksHostsTest : public OnHosts {
 protected:
  Outcome run_chunks(const std::string& options, const std::string& mode) {
    return job("--heartbeat 20 " + options, std::string(CHUNKS_PROGRAM) + " " + mode);
  }
  void expect_good(int nodes, const std::string& options, const std::string& mode) {
    OnHosts::expect_good(nodes, "--heartbeat 20 " + options,
                         std::string(CHUNKS_PROGRAM) + " " + mode);
  }
};

TEST_F(ChunksHostsTest, ScopesSeeOneMemory) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"scopes", "whole", "late", "misuse"}) {
    expect_good(2, "--memory 1G -H h0,h1", mode);
    expect_good(4, "--memory 1G -H h0:2,h1:2", mode);
  }
  expect_good(3, "-H h0:2,h1 --servers 2", "scopes");
  expect_good(4, "-H h0:2,h1:2 --memory 120M", "crowded");
}

TEST_F(ChunksHostsTest, SubscribersGetWholeVersions) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"subscriptions", "handlers", "parts", "chains", "hints", "once",
                           "leaver", "stalled", "held", "meetings"})
    expect_good(4, "-H h0:2,h1:2", mode);
}

TEST_F(ChunksHostsTest, AMeasuredWindowFillsTheWay) {
  if (!make_hosts({.hosts = 2})) return;
  expect_good(2, "-H h0,h1 --servers 0,", "window-far");
}

TEST_F(ChunksHostsTest, WhatSurvivesADeathIsWhole) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"death", "server-death"}) {
    Outcome outcome = run_chunks("-H h0:2,h1:2 --on-death survive", mode);
    EXPECT_EQ(count(outcome.out, "good"), 3) << mode << ": " << outcome.out << outcome.err;
  }
}

TEST_F(ChunksHostsTest, WhoJoinsFromAnotherHostReadsWhatIsThere) {
  if (!make_hosts({.hosts = 3})) return;
  const std::string terrane = cluster_test::kTerrane, program = CHUNKS_PROGRAM;
  for (const char* options : {"-n 2", "-H h0:2,h1:2"}) {
    Launched job =
        start(std::string("--heartbeat 20 --guests 3 --name lab ") + options, program + " hosts");
    EXPECT_TRUE(job.wait_for("ready"));
    Outcome invitation = run(0, {terrane, "invite", "lab"});
    EXPECT_EQ(run(2, {terrane, "join", "lab", program}).exit_code, 1) << "it runs elsewhere";
    std::string line = invitation.out.substr(0, invitation.out.find('\n'));
    for (const char* mode : {"guest", "guest", "stop"}) {
      Outcome guest = shell(
          2, "echo '" + line + "' | " + terrane + " join --invitation - " + program + " " + mode);
      EXPECT_EQ(guest.exit_code, 0) << guest.err;
      EXPECT_EQ(guest.out, "good\n") << guest.err;
    }
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), options[1] == 'n' ? 2 : 4) << outcome.err;
    expect_empty_hosts();
  }
}

}  // namespace
}  // namespace terrane::test_hosts
