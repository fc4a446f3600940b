// Programs as they are whose main thread has more data than one node keeps: homes go where there is
// room.
#include <regex>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;

void expect_right(const std::string& options, const std::string& way, const std::string& mib) {
  SCOPED_TRACE(options + " " + way + " " + mib);
  Outcome outcome = finish(threads(options, kProgram + " " + way + " " + mib));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "right\n") << outcome.err;
}

TEST(MemoryTest, MainFillsMoreThanOneNodeKeeps) {
  for (const char* way : {"vector", "static", "mapping", "read_first", "callocs", "blocks"})
    expect_right("-n 2 --memory 32M", way, "48");
  expect_right("-n 2 --memory 32M", "grows", "40");
  expect_right("-n 3 --memory 32M --placement 1", "vector", "72");
  expect_right("-n 2 --memory 32M --placement 1", "turns", "48");
  expect_right("-n 3 --memory 32M --placement 1", "turns", "64");
}

TEST(MemoryTest, ItDoesWithEveryFaultSourceAndByMessages) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_right(std::string("-n 2 --memory 32M --fault-source ") + source, "turns", "48");
  expect_right("-n 2 --memory 32M --predict never", "vector", "48");
  expect_right("-n 2 --memory 32M --predict=-adopt", "vector", "48");
}

TEST(MemoryTest, WhatNoNodeCanKeepEndsTheJobWithASentence) {
  Outcome outcome = finish(threads("-n 2 --memory 32M", kProgram + " blocks 96"));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("no other node has room for more: node 1 ("), std::string::npos)
      << outcome.err;
}

TEST(MemoryTest, StatsSayWhatWasGiven) {
  Outcome outcome = finish(threads("-n 2 --memory 32M --stats", kProgram + " vector 48"));
  EXPECT_NE(outcome.err.find("pages given to other nodes"), std::string::npos) << outcome.err;
  std::regex taken("full: [0-9]+ pages given to other nodes, [1-9][0-9]{3} taken");
  EXPECT_TRUE(std::regex_search(outcome.err, taken)) << outcome.err;
  for (const char* kind : {"vector|[1-9][0-9]{4} KiB allocated", "static|[1-9][0-9]{4} KiB static",
                           "mapping|[1-9][0-9]{4} KiB mapped"}) {
    std::string way(kind), text = way.substr(way.find('|') + 1);
    way.resize(way.find('|'));
    outcome = finish(threads("-n 2 --memory 32M --stats", kProgram + " " + way + " 48"));
    std::regex line("memory at the end: homes .*" + text + ".*KiB of stacks; copies [0-9]+ KiB");
    EXPECT_TRUE(std::regex_search(outcome.err, line)) << way << outcome.err;
    EXPECT_NE(outcome.err.find("of them fetched again"), std::string::npos) << outcome.err;
  }
}

class MemoryHostsTest : public OnHosts {};

TEST_F(MemoryHostsTest, MainFillsMoreThanOneHostKeeps) {
  if (!make_hosts({.hosts = 3})) return;
  for (const char* way : {"vector", "static", "turns"}) {
    std::string options = "--heartbeat 20 -H h0,h1,h2 --memory 32M --placement 1";
    Outcome outcome = launch(0, threads(options, kProgram + " " + way + " 48")).finish();
    EXPECT_EQ(outcome.out, "right\n") << way << outcome.err;
  }
}

TEST_F(MemoryHostsTest, HostsThatLendRunNoThreadOfTheProgram) {
  if (!make_hosts({.hosts = 3})) return;
  auto on = [&](const std::string& options, const std::string& way) {
    return launch(0, threads("--heartbeat 20 " + options, kProgram + " " + way)).finish();
  };
  Outcome outcome = on("-H h0 -n 1 --lend h1,h2 --memory 32M", "vector 48");
  EXPECT_EQ(outcome.out, "right\n") << outcome.err;
  outcome = on("-H h0,h1 --lend h2 --placement 1 --memory 32M", "turns 48");
  EXPECT_EQ(outcome.out, "right\n") << outcome.err;
  outcome = on("-H h0,h1 --lend h2 --placement 1", "where 1");
  EXPECT_EQ(count(outcome.out, "h0\n") + count(outcome.out, "h1\n"), 3) << outcome.out;
  EXPECT_EQ(on("--lend h2 --placement 1", "where 1").out, "h0\nh0\nh0\n");
  // Hosts with different numbers of nodes see the program at one place all the same.
  outcome = on("-H h0 --lend h2:2 --placement 1", "where 1");
  EXPECT_EQ(outcome.out, "h0\nh0\nh0\n") << outcome.err;
  outcome = on("-H h0:2,h1 --placement 1", "where 1");
  EXPECT_EQ(outcome.out, "h0\nh1\nh0\n") << outcome.err;
  outcome = on("-H h0,h1 --lend h1", "where 1");
  EXPECT_NE(outcome.err.find("--lend h1: h1 runs nodes of the program already; name it once"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(on("-H h0 --lend h9", "where 1").err.find("h9"), std::string::npos);
}

}  // namespace
}  // namespace terrane::test_hosts
