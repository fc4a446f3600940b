// The chunks interface on real processes: what works, and how bad input is answered.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <vector>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

Outcome run_chunks(const std::string& options, const std::string& mode,
                   std::vector<std::string> environment = {}) {
  std::string line = std::string(kTerrane) + " run " + options + " " + CHUNKS_PROGRAM + " " + mode;
  Launched job(words(line), {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  EXPECT_GE(job.ms_until_all_gone(), 0) << mode << " leaves processes behind";
  return outcome;
}

void expect_good(int nodes, const std::string& mode, const std::string& options = "",
                 std::vector<std::string> environment = {}) {
  Outcome outcome =
      run_chunks("-n " + std::to_string(nodes) + " " + options, mode, std::move(environment));
  EXPECT_EQ(outcome.exit_code, 0) << mode << ": " << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), nodes) << mode << ": " << outcome.out << outcome.err;
}

const std::vector<std::string> kByMessages{"TERRANE_ONE_SIDED=0"};

TEST(ChunksTest, ThreadsOfAllNodesSeeOneMemory) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "scopes");
  expect_good(4, "scopes", "--servers 3");
  expect_good(3, "scopes", "", kByMessages);
}
TEST(ChunksTest, WhoWritesAllOfItNeedsNoBytes) {
  expect_good(3, "whole");
  expect_good(3, "whole", "", kByMessages);
}
TEST(ChunksTest, SubscribersGetWholeVersionsInOrder) {
  expect_good(4, "subscriptions");
  expect_good(3, "subscriptions", "--servers 1,2");
  expect_good(3, "subscriptions", "", kByMessages);
}
TEST(ChunksTest, AMeasuredWindowOfAHostIsSmall) {
  expect_good(2, "window-near");
  expect_good(2, "window-near", "", kByMessages);
}
TEST(ChunksTest, PartsAreWrittenAndHeardOfAlone) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "parts");
  expect_good(3, "parts", "--servers 2", kByMessages);
}
TEST(ChunksTest, ChainsAreMadeOnceAndGrow) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "chains");
  expect_good(3, "chains", "--servers 3", kByMessages);
}
TEST(ChunksTest, HowThreadsWaitMayBeChosen) {
  for (const char* how : {"TERRANE_WAIT=sleep", "TERRANE_WAIT=spin"})
    expect_good(3, "subscriptions", "", {how});
  Outcome outcome = run_chunks("-n 2", "late", {"TERRANE_WAIT=rest"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("TERRANE_WAIT=rest: auto, spin or sleep"), std::string::npos);
}
TEST(ChunksTest, ALivingChunkChangesItsCoherence) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "hints");
  expect_good(4, "hints", "--servers 3", kByMessages);
}
TEST(ChunksTest, RecordedVersionsComeBack) { expect_good(2, "recorded"); }
TEST(ChunksTest, WhatIsWrittenOnceRefusesASecondWriter) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "once");
  expect_good(3, "once", "--servers 3", kByMessages);
}
TEST(ChunksTest, AVersionCrossesTheNetworkOnceWhereTheHomeIsAtOneOfItsEnds) {
  expect_good(3, "placed");
  expect_good(3, "placed-by-messages", "", kByMessages);
  expect_good(5, "placed-by-messages", "", kByMessages);
}
TEST(ChunksTest, AChunkWithoutAHomeWaitsForItsFirstSubscriber) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "unplaced");
  expect_good(3, "unplaced", "--servers 2", kByMessages);
}
TEST(ChunksTest, TheHomeOfAPlacedChunkServesUntilAllLeave) {
  for (int nodes : {2, 4}) expect_good(nodes, "placed-leaver", "--servers 0,");
  expect_good(3, "placed-leaver", "", kByMessages);
}
TEST(ChunksTest, APlacedChunkOutlivesItsHome) {
  Outcome outcome = run_chunks("-n 4 --on-death survive", "placed-death");
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 3) << outcome.out << outcome.err;
}
TEST(ChunksTest, WhoWantsToLeaveHindersNobody) {
  for (const char* options : {"", "--servers 3", "--servers 2,"}) expect_good(3, "leaver", options);
  expect_good(4, "leaver", "--servers 2", kByMessages);
}
TEST(ChunksTest, AClientLeavesWhileTheOthersGoOn) {
  for (const char* options : {"", "--on-death survive"}) {
    Outcome outcome = run_chunks(std::string("-n 4 ") + options, "goers");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.err;
    EXPECT_EQ(outcome.err, "") << "nobody died";
  }
  expect_good(4, "goers", "", kByMessages);
}
TEST(ChunksTest, WhoComesLateReadsTheMemory) { expect_good(3, "late"); }
TEST(ChunksTest, HandlersAndDescriptorsTellOfVersions) {
  for (int nodes : {1, 3}) expect_good(nodes, "handlers");
}
TEST(ChunksTest, AStalledSubscriberStopsItsWriter) {
  expect_good(2, "stalled");
  expect_good(3, "stalled", "--servers 2");
}
TEST(ChunksTest, LocksBarriersAndSignalsHoldThreadsOfAllNodes) {
  for (int nodes : {1, 2, 4}) expect_good(nodes, "meetings");
  expect_good(3, "meetings", "--servers 3", kByMessages);
}
TEST(ChunksTest, CopiesBeyondTheBudgetComeAndGo) {
  expect_good(2, "crowded", "--memory 120M");
  expect_good(3, "crowded", "--memory 120M --servers 3", kByMessages);
}
TEST(ChunksTest, WhatSurvivesADeathIsWhole) {
  for (const char* options : {"-n 3", "-n 4 --servers 2"}) {
    Outcome outcome = run_chunks(std::string("--on-death survive ") + options, "death");
    EXPECT_EQ(count(outcome.out, "good"), options[3] - '0' - 1) << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.err, "chunk 'left': what a node wrote"), 1) << outcome.err;
  }
}
TEST(ChunksTest, ADeadServersChunksAreFoundAtItsSuccessor) {
  for (const char* options : {"-n 3", "-n 4 --servers 2"}) {
    Outcome outcome = run_chunks(std::string("--on-death survive ") + options, "server-death");
    EXPECT_EQ(count(outcome.out, "good"), options[3] - '0' - 1) << outcome.out << outcome.err;
  }
}
TEST(ChunksBadInputTest, ACallFromAHandlerThatInterruptedOneIsRefused) {
  expect_good(2, "interrupted");
}
TEST(ChunksBadInputTest, MisuseIsToldAndDoesNoHarm) { expect_good(2, "misuse", "--memory 1G"); }
TEST(ChunksBadInputTest, AChunkThatIsNotKnownIsTold) { expect_good(2, "unknown-chunk"); }
TEST(ChunksBadInputTest, ChainsThatCannotBeAreTold) {
  expect_good(2, "misused-chains", "--memory 1G");
}
TEST(ChunksBadInputTest, MoreThanTheMemoryIsRefusedAndNothingIsLost) {
  expect_good(4, "cramped", "--servers 3 --memory 2M");
  expect_good(4, "cramped", "--servers 3 --memory 2M", kByMessages);
}
TEST(ChunksBadInputTest, WhoHoldsAScopeIsTold) { expect_good(3, "held"); }
TEST(ChunksBadInputTest, AScopeThatIsHeldForLongIsToldOnceByWhoWaits) {
  Outcome outcome = run_chunks("-n 3 --patience 0.3", "held-long");
  EXPECT_EQ(count(outcome.out, "good"), 3) << outcome.err;
  EXPECT_EQ(
      count(outcome.err, "a read scope of chunk 'held' has been waited for 0.3 s: node 1 on "), 2)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, " has held a write scope for "), 2) << outcome.err;
  EXPECT_EQ(run_chunks("-n 3 --patience 0", "held-long").err, "");
  outcome = run_chunks("-n 3 --patience 0.3", "held-long", {"TERRANE_WAIT=spin"});
  EXPECT_GE(count(outcome.err, "a read scope of chunk 'held' has been waited for 0.3 s"), 1)
      << "a thread that never sleeps reports its wait, too: " << outcome.err;
}
// On a busy machine a report may come when a node has not done yet what the program lets it do
// before: then the program runs again, some times.
TEST(ChunksBadInputTest, EveryCallThatWaitsForLongReportsWhatItWaitsFor) {
  const std::vector<const char*> reports{
      "chunk 'missing' has been waited for 0.3 s: no node has created it",
      "chain 'missing chain' has been waited for 0.3 s: no node has created it",
      "a version of chunk 'quiet' has been waited for 0.3 s: no node has published a version",
      "a version of chunk 'spoken' has been waited for 0.3 s: the newest version is 1, by "
      "node "
      "2 on ",
      "signal 'signal' has been waited for 0.3 s: 1 of 2 signals have come",
      "barrier 'gate' has been waited in for 0.3 s: 2 of 3 threads have come; no thread of "
      "node 0 on ",
      "a read-write scope of lock 'lock' has been waited for 0.3 s: node 2 on ",
      "chunk 'held' has been waited for 0.3 s, to change its coherence: node 2 on ",
      "the end of the subscription of chunk 'slow' has been waited for 0.3 s: its handler has "
      "not returned",
      "has waited 0.3 s in terrane_chunks_finalize, where this server serves on: node 2 on ",
  };
  Outcome outcome;
  std::vector<const char*> missing = reports;
  for (int tries = 0; tries < 5 && !missing.empty(); ++tries) {
    outcome = run_chunks("-n 3 --patience 0.3", "long-waits");
    EXPECT_EQ(count(outcome.out, "good"), 3) << outcome.err;
    missing = reports;
    std::erase_if(missing, [&](const char* report) { return count(outcome.err, report) == 1; });
  }
  for (const char* report : missing) ADD_FAILURE() << report << " is not in " << outcome.err;
  EXPECT_EQ(run_chunks("-n 3 --patience 0", "long-waits").err, "");
}
TEST(ChunksBadInputTest, AServerThatDoesNotAnswerIsNamed) {
  Outcome outcome = run_chunks("-n 2 --heartbeat 30 --patience 0.3", "silent-server");
  EXPECT_EQ(count(outcome.out, "good"), 2) << outcome.err;
  EXPECT_EQ(count(outcome.err,
                  "chunk 'new' has been waited for 0.3 s, to create it: its server, "
                  "node 0 on "),
            1)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, "chunk 'missing' has been waited for 0.3 s: its server, node 0 on "),
            1)
      << outcome.err;
}
TEST(ChunksBadInputTest, ATakerThatHoldsAllVersionsIsTold) {
  expect_good(2, "full-window");
  Outcome outcome = run_chunks("-n 2 --patience 0.3", "full-window");
  EXPECT_EQ(count(outcome.err,
                  "a version of chunk 'full' has been waited for 0.3 s: this node "
                  "holds scopes of 3 versions (1, 2, 3)"),
            1)
      << outcome.err;
}
TEST(ChunksBadInputTest, ServersThatCannotBeAreTold) {
  for (const char* servers : {"3", "0", "1,1", "one"}) {
    Outcome outcome = run_chunks(std::string("-n 2 --servers ") + servers, "late");
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("TERRANE_SERVERS"), std::string::npos) << outcome.err;
  }
}

// A file of the job, as long as this object lives.
class TopologyFile {
 public:
  explicit TopologyFile(const std::string& text) { std::ofstream(path_) << text; }
  const std::string& path() const { return path_; }

 private:
  base::TestFolder folder_;
  std::string path_ = folder_ / "topology.toml";
};

Outcome run_topology(const std::string& text, const std::string& rest) {
  TopologyFile file(text);
  return Launched(words(std::string(kTerrane) + " run --topology " + file.path() + " " + rest))
      .finish();
}

TEST(ChunksTopologyTest, AFileSaysWhatTheJobIs) {
  const char* text = "nodes = 4\nmemory = \"300M\"\n[servers]\nnodes = [1, 3]\n";
  Outcome outcome = run_topology(text, CHUNKS_PROGRAM " scopes");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.err;
  EXPECT_EQ(run_topology(text, "printenv TERRANE_SERVERS TERRANE_MEMORY").out.find("1,3\n300M\n"),
            0u);
  outcome = run_topology("nodes = 3\n[servers]\nper_host = 2", "printenv TERRANE_SERVERS");
  EXPECT_EQ(outcome.out, "0,1\n0,1\n0,1\n");
}
TEST(ChunksTopologyTest, TheCommandLineGoesBeforeTheFile) {
  Outcome outcome = run_topology("nodes = 4\nmemory = \"300M\"\n[servers]\nnodes = [3]\n",
                                 "-n 2 --servers 1 --memory 200M printenv TERRANE_SERVERS "
                                 "TERRANE_MEMORY");
  EXPECT_EQ(outcome.out, "1\n200M\n1\n200M\n") << outcome.err;
}
TEST(ChunksTopologyTest, AFaultOfTheFileIsToldAndNothingStarts) {
  for (auto [text, says] : {
           std::pair{"nodes = 2\n[servers]\nnodes = [0, 2]", ".toml:3:13: there is no node 2"},
           {"nodes = 2\nservers = 1", ".toml:2:11: servers is a whole number"},
           {"nodes = 2\n[servers]\nper_host = 1\nhosts = [\"nowhere\"]", ".toml:4:10: the job has"},
           {"nodes = 4000", ".toml:1:9: -n 4000: at most"},
           {"nodes", ".toml:1:"},
       }) {
    Outcome outcome = run_topology(text, "echo started");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  Outcome outcome = run(" --topology /nonexistent.toml", "");
  EXPECT_NE(outcome.err.find("--topology /nonexistent.toml: No such file"), std::string::npos);
  outcome = run(" --topology /tmp", "");
  EXPECT_NE(outcome.err.find("is a folder"), std::string::npos) << outcome.err;
}

TEST(ChunksTest, ScopesOfCppEndByThemselves) {
  for (const char* nodes : {"1", "3"}) {
    Launched job({kTerrane, "run", "-n", nodes, CPP_PROGRAM});
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), nodes[0] - '0') << outcome.err;
  }
}

TEST(ChunksAloneTest, AProgramWithoutTheLauncherIsAJobOfOne) {
  for (const char* mode : {"scopes", "handlers", "misuse"}) {
    Launched alone({CHUNKS_PROGRAM, mode}, {.environment = {"TERRANE_MEMORY=1G"}});
    Outcome outcome = alone.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "good\n");
  }
}

}  // namespace
}  // namespace terrane::cluster_test
