// Chunks over several hosts: the same programs, memory and ends as on one.
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class ChunksHostsTest : public OnHosts {
 protected:
  Outcome run_chunks(const std::string& options, const std::string& mode) const {
    std::string line = std::string(cluster_test::kTerrane) + " run --heartbeat 20 " + options + " ";
    Outcome outcome = launch(0, cluster_test::words(line + CHUNKS_PROGRAM " " + mode)).finish();
    EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
    return outcome;
  }
  void expect_good(int nodes, const std::string& options, const std::string& mode) const {
    Outcome outcome = run_chunks(options, mode);
    EXPECT_EQ(outcome.exit_code, 0) << mode << ": " << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), nodes) << mode << ": " << outcome.out << outcome.err;
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
  for (const char* mode : {"subscriptions", "handlers", "stalled", "held", "meetings"})
    expect_good(4, "-H h0:2,h1:2", mode);
}

TEST_F(ChunksHostsTest, WhatSurvivesADeathIsWhole) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"death", "server-death"}) {
    Outcome outcome = run_chunks("-H h0:2,h1:2 --on-death survive", mode);
    EXPECT_EQ(count(outcome.out, "good"), 3) << mode << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
