// Nobody waits for the dead, and nobody outlives the job.

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class DeathTest : public UserTest {};
TERRANE_FOR_BOTH_USERS(DeathTest);

TEST_P(DeathTest, SurvivorsGetTheNewsAndThenEndEvenIfTheyIgnoreSigterm) {
  Outcome done = run_job("-n 4", "join ignore:15 exchange:0:0 @2 kill:9 @all news hang");
  EXPECT_EQ(done.exit_code, 128 + 9);
  EXPECT_EQ(done.out, "news\nnews\nnews\n");
  EXPECT_TRUE(holds(done.err, "was killed by SIGKILL (signal 9)"));
  EXPECT_TRUE(holds(done.err, "the other 3 nodes are being ended"));
}

TEST_P(DeathTest, AnExchangeFailsWithWhoIsMissing) {
  Outcome done = run_job("-n 3", "@0 join exchange:0:0 leave @2 join exchange:0:0 leave");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(
      holds(done.out, "cannot go on: node 1 of 3 has ended without joining the job, while node"));
  EXPECT_TRUE(holds(done.err, "node 1 of 3 has ended without joining the job"));
}

TEST_P(DeathTest, AnExchangeFailsWhenAnotherHasLeftAlready) {
  Outcome done = run_job("-n 2", "join exchange:0:0 @1 leave sleep:10000 @0 exchange:0:0 leave");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.out, "node 1 of 2 has left the job already, while node 0 waits for it"));
}

TEST_P(DeathTest, AnExchangeDoesNotWaitForANodeThatDied) {
  Outcome done = run_job("-n 3", "join @1 kill:6 @0 exchange:0:0 @2 exchange:0:0");
  EXPECT_EQ(done.exit_code, 128 + 6);
  EXPECT_TRUE(holds(done.err, "node 1 (process "));
}

TEST_P(DeathTest, TheDeathOfAProgramUnderAWrapperIsSeen) {
  std::string script =
      std::string(kNodeProgram) + " join exchange:0:0 @1 kill:11 @0 hang; sleep 100; true";
  Launched job({kTerrane, "run", "-n", "2", "sh", "-c", script}, options());
  Outcome done = job.finish();
  EXPECT_FALSE(done.timed_out);
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.err, "node 1 (process "));
  EXPECT_TRUE(job.marked_processes().empty());
}

TEST_P(DeathTest, AWrapperDoesNotSpoilAJobInOrder) {
  std::string script = std::string(kNodeProgram) + " join exchange:0:0 leave; sleep 0.05";
  Outcome done = Launched({kTerrane, "run", "-n", "2", "sh", "-c", script}, options()).finish();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(done.err.empty());
}

TEST_P(DeathTest, StoppedNodesEndToo) {
  Launched job(run_nodes("-n 3", "join exchange:0:0 @0 kill:19 @1 kill:19 @2 sleep:100 exit:3"),
               options());
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_TRUE(job.marked_processes().empty());
}

TEST_P(DeathTest, WhatNodesLeftRunningEndsWithTheJob) {
  Launched job(run_nodes("-n 2", "daemon child exit:0"), options());
  EXPECT_EQ(job.finish().exit_code, 0);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

// Every way to be below a node: joined or not, in a wrapper, away from its session.
const char* const kTrees[] = {
    "%NODE% join exchange:0:0 daemon child say:up ignore:15 hang",
    "%NODE% child daemon say:up ignore:15 hang",
    "%NODE% join exchange:0:0 say:up hang; true",
    "%NODE% join exchange:0:0 say:up ignore:15 spin; true",
    "%NODE% say:up; sleep 100; true",
    "(setsid sleep 100 &) ; echo up; sleep 100",
};

std::vector<std::string> tree_command(std::string script) {
  std::size_t at = script.find("%NODE%");
  if (at != std::string::npos) script.replace(at, 6, kNodeProgram);
  return {kTerrane, "run", "-n", "2", "sh", "-c", script};
}

TEST_P(DeathTest, TheLaunchersDeathLeavesNoProcess) {
  for (const char* tree : kTrees) {
    Launched job(tree_command(tree), options());
    ASSERT_TRUE(job.wait_for("up\n", 2)) << tree;
    ::kill(job.pid(), SIGKILL);
    int ms = job.ms_until_all_gone();
    EXPECT_GE(ms, 0) << tree;
    RecordProperty("ms", ms);
    std::printf("gone after %d ms: %s\n", ms, tree);
    EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  }
}

TEST_P(DeathTest, TheLaunchersDeathWithTaggedOutputLeavesNoProcess) {
  Launched job(run_nodes("-n 3 --tag-output", "join exchange:0:0 say:up hang"), options());
  ASSERT_TRUE(job.wait_for("up\n", 3));
  ::kill(job.pid(), SIGKILL);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

pid_t engine_of(pid_t launcher) {
  std::string id = std::to_string(launcher);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

TEST_P(DeathTest, TheEnginesDeathLeavesNoProcess) {
  for (const char* tree : kTrees) {
    Launched job(tree_command(tree), options());
    ASSERT_TRUE(job.wait_for("up\n", 2)) << tree;
    pid_t engine = engine_of(job.pid());
    ASSERT_GT(engine, 0);
    ::kill(engine, SIGKILL);
    Outcome done = job.finish();
    EXPECT_EQ(done.exit_code, 128 + SIGKILL);
    EXPECT_TRUE(holds(done.err, "the engine of this job"));
    EXPECT_GE(job.ms_until_all_gone(), 0) << tree;
  }
}

TEST_P(DeathTest, BothLauncherProcessesKilledAtOnceLeaveNoNode) {
  Launched job(run_nodes("-n 3", "join exchange:0:0 say:up ignore:15 hang"), options());
  ASSERT_TRUE(job.wait_for("up\n", 3));
  ::kill(job.pid(), SIGSTOP);  // so that it cannot clean up first
  ::kill(engine_of(job.pid()), SIGKILL);
  ::kill(job.pid(), SIGKILL);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_P(DeathTest, TheKernelKillsAJoinedNodeUnderAWrapperWhenBothLauncherProcessesDie) {
  Launched job(tree_command("setsid %NODE% join exchange:0:0 say:up ignore:15 hang; true"),
               options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  pid_t engine = engine_of(job.pid());
  ::kill(job.pid(), SIGSTOP);
  ::kill(engine, SIGKILL);
  ::kill(job.pid(), SIGKILL);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

}  // namespace
}  // namespace terrane::cluster_test
