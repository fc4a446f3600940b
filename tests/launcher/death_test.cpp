// Nobody waits for the dead, and nobody outlives the job.

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "user_test.h"

namespace terrane::cluster_test {
namespace {

pid_t engine_of(pid_t launcher) {
  std::string id = std::to_string(launcher);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

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

TEST_P(DeathTest, AStoppedNodeEndsTheJobAfterTheHeartbeatsLimit) {
  Outcome done = run_job("-n 2 --heartbeat 0.3", "join exchange:0:0 @1 kill:19 @0 hang");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "node 1 on host "));
  EXPECT_TRUE(holds(done.err, ": no sign of life for 0.3 s (process "));
  EXPECT_TRUE(holds(done.err, "was stopped for that long, and has been killed"));
}

// Nobody wakes node 1 ever again: only its death lets the job end.
TEST_P(DeathTest, AStoppedNodeIsKilledWhereTheOthersGoOn) {
  Launched job(run_nodes("-n 3 --heartbeat 0.3 --on-death survive",
                         "join exchange:0:0 @1 kill:19 sleep:600 leave exit:0"),
               options());
  Outcome done = job.finish();
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "node 1 on host ")) << done.err;
  EXPECT_TRUE(holds(done.err, "has been killed")) << done.err;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_P(DeathTest, AStoppedLauncherEndsTheJobAfterTheHeartbeatsLimit) {
  Launched job(run_nodes("-n 2 --heartbeat 0.3", "join exchange:0:0 say:up hang"), options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(job.pid(), SIGSTOP);
  EXPECT_GE(job.ms_until_all_gone(), 0);
  ::kill(job.pid(), SIGCONT);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "`terrane run` has been stopped for 0.3 s"));
}

TEST_P(DeathTest, AStoppedEngineEndsTheJobAfterTheHeartbeatsLimit) {
  Launched job(run_nodes("-n 2 --heartbeat 0.3", "join exchange:0:0 say:up hang"), options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(engine_of(job.pid()), SIGSTOP);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "the engine of this job"));
  EXPECT_TRUE(job.marked_processes().empty());
}

TEST_P(DeathTest, AJobMaySurviveADeathAndItsNodesHearOfIt) {
  Outcome done =
      run_job("-n 3 --on-death survive", "join exchange:0:0 @1 kill:9 @0 news leave @2 news leave");
  EXPECT_EQ(done.exit_code, 128 + 9);
  for (const char* text : {"news of node 1: node 1 (process ", "was killed by SIGKILL"}) {
    EXPECT_TRUE(holds(done.out, text));
  }
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 2);
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  EXPECT_FALSE(holds(done.err, "being ended"));
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
