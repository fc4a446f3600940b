// Pages that nodes share in one way or another, as --check=sharing reports them.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = SHARED_PROGRAM;
const std::string kNone = "--check=sharing: no false sharing";

std::string line_of(int nodes, const std::string& options, const std::string& what) {
  return std::string(cluster_test::kTerrane) + " threads -n " + std::to_string(nodes) +
         " --placement 1 " + options + " " + kProgram + " " + what + " " + std::to_string(nodes);
}

Outcome run_line(int nodes, const std::string& options, const std::string& what) {
  Launched job(cluster_test::words(line_of(nodes, options, what)), {});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << options << " " << what << " hangs";
  EXPECT_EQ(count(outcome.out, "good"), 1) << what << ": " << outcome.out << outcome.err;
  return outcome;
}

Outcome run_checked(int nodes, const std::string& what) {
  return run_line(nodes, "--check=sharing --check-fails", what);
}

bool has(const Outcome& outcome, const std::string& text) {
  return outcome.err.find(text) != std::string::npos;
}

TEST(SharedTest, CountersOfOnePageAreFalseSharing) {
  for (int nodes : {2, 3}) {
    Outcome outcome = run_checked(nodes, "counters");
    EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
    EXPECT_TRUE(has(outcome, "false sharing: node 0 writes counters, bytes ")) << outcome.err;
    EXPECT_TRUE(has(outcome, "node 1 writes counters, bytes 0 to 2")) << outcome.err;
    EXPECT_TRUE(has(outcome, nodes == 2 ? "|111.....000|" : "|111.....222.....000|"))
        << outcome.err;
    EXPECT_TRUE(has(outcome, "remedy: give what each node writes pages of its own")) << outcome.err;
    EXPECT_TRUE(has(outcome, "--check=sharing: 1 case of false sharing")) << outcome.err;
  }
}

TEST(SharedTest, TwoVariablesOfOnePageAreNamedBoth) {
  Outcome outcome = run_checked(2, "variables");
  EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
  EXPECT_TRUE(has(outcome, "false sharing: node 0 writes right_sum")) << outcome.err;
  EXPECT_TRUE(has(outcome, "node 1 writes left_sum")) << outcome.err;
  EXPECT_TRUE(has(outcome, "put left_sum and right_sum on pages of their own")) << outcome.err;
}

TEST(SharedTest, AValueThatTravelsIsNoFalseSharing) {
  for (int nodes : {2, 3}) {
    Outcome outcome = run_checked(nodes, "travels");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome, "true sharing: node 0 writes turns, ")) << outcome.err;
    EXPECT_TRUE(has(outcome, "need each other's values")) << outcome.err;
    EXPECT_FALSE(has(outcome, "false sharing: ")) << outcome.err;
  }
}

TEST(SharedTest, OneWriterWithReadersIsNoFalseSharing) {
  for (int nodes : {2, 3}) {
    Outcome outcome = run_checked(nodes, "news");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome, "one writer: node 1 writes news, ")) << outcome.err;
    EXPECT_FALSE(has(outcome, "false sharing: ")) << outcome.err;
  }
}

TEST(SharedTest, ALockThatTravelsIsNamed) {
  for (int nodes : {2, 3}) {
    Outcome outcome = run_checked(nodes, "lock");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome, "of its time for the lock hot_lock, which came from other nodes"))
        << outcome.err;
    EXPECT_FALSE(has(outcome, "false sharing: ")) << outcome.err;
  }
}

TEST(SharedTest, AMasterThatFillsAllIsNamed) {
  Outcome outcome = run_checked(3, "master");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome, "pages that it had not had before: 100 % of all such pages"))
      << outcome.err;
  EXPECT_TRUE(has(outcome, "came from node 0, which had filled them")) << outcome.err;
}

TEST(SharedTest, PagesOfOneNodeEachAreNoSharing) {
  for (int nodes : {2, 3}) {
    Outcome outcome = run_checked(nodes, "clean");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome, kNone)) << outcome.err;
    EXPECT_FALSE(has(outcome, "sharing: node")) << outcome.err;
    EXPECT_FALSE(has(outcome, "one writer: ")) << outcome.err;
  }
}

TEST(SharedTest, WithoutTheOptionNothingIsSaid) {
  Outcome outcome = run_line(2, "", "counters");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(SharedTest, StatsSayWhatWasSlow) {
  Outcome outcome = run_line(2, "--stats", "lock");
  EXPECT_TRUE(has(outcome, "slow: node ")) << outcome.err;
  EXPECT_TRUE(has(outcome, "for the lock hot_lock")) << outcome.err;
  EXPECT_FALSE(has(outcome, "--check=sharing: ")) << outcome.err;
}

TEST(SharedTest, TheFileHasTheSame) {
  base::TestFolder folder;
  std::string path = folder / "sharing";
  run_line(2, "--check=sharing --check-output " + path, "counters");
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("{\"kind\": \"false sharing\", \"matters\": true"), std::string::npos)
      << text;
  EXPECT_NE(text.find("{\"node\": 0, \"variable\": \"counters\", \"offset\": 8"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"slow\": [\""), std::string::npos) << text;
}

TEST(SharedTest, EachWayToFindWritesFindsIt) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"}) {
    Outcome outcome =
        run_line(2, "--check=sharing --fault-source " + std::string(source), "counters");
    EXPECT_TRUE(has(outcome, "false sharing: node 0 writes counters, ")) << source << outcome.err;
  }
}

class SharedOnHosts : public OnHosts {};

TEST_F(SharedOnHosts, SharingIsFoundBetweenHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* what : {"counters", "travels", "clean"}) {
    std::string options = "--heartbeat 20 -H h0,h1 --check=sharing --check-fails";
    Outcome outcome = run(0, cluster_test::words(line_of(2, options, what)));
    bool is_false = std::string(what) == "counters";
    EXPECT_EQ(outcome.exit_code, is_false ? 66 : 0) << what << ": " << outcome.err;
    EXPECT_EQ(has(outcome, "false sharing: node 0 writes counters, "), is_false) << outcome.err;
    EXPECT_EQ(has(outcome, kNone), !is_false) << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
