// Signals sent to `terrane run` reach the nodes, once each.

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class SignalTest : public UserTest {};
TERRANE_FOR_BOTH_USERS(SignalTest);

TEST_P(SignalTest, EverySignalReachesEveryNodeOnce) {
  Launched job(run_nodes("-n 3 --grace 60", "signals exit:0"), options());
  ASSERT_TRUE(job.wait_for("ready\n", 3));
  for (int signal : {SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGTERM}) {
    ::kill(job.pid(), signal);
    ASSERT_TRUE(job.wait_for(std::string("got SIG") + ::sigabbrev_np(signal) + "\n", 3));
  }
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 3 * 7) << done.out;
}

TEST_P(SignalTest, AnInterruptEndsTheJobWithOneSentence) {
  Launched job(run_nodes("-n 3", "join exchange:0:0 say:up hang"), options());
  ASSERT_TRUE(job.wait_for("up\n", 3));
  ::kill(job.pid(), SIGINT);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 128 + SIGINT);
  EXPECT_TRUE(holds(done.err, "was ended by SIGINT, which terrane run was sent and passed on\n"));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_P(SignalTest, ASecondInterruptKillsWhatIgnoresTheFirst) {
  Launched job(run_nodes("-n 3", "signals hang"), options());
  ASSERT_TRUE(job.wait_for("ready\n", 3));
  ::kill(job.pid(), SIGINT);
  ASSERT_TRUE(job.wait_for("got SIGINT\n", 3));
  ::kill(job.pid(), SIGINT);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 128 + SIGINT);
  EXPECT_TRUE(holds(done.err, " was sent SIGINT twice and has been killed\n")) << done.err;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_P(SignalTest, WhatIgnoresItsEndIsKilledAfterTheGraceTime) {
  for (int signal : {SIGTERM, SIGHUP}) {
    Launched job(run_nodes("-n 2 --grace 0.2", "signals hang"), options());
    ASSERT_TRUE(job.wait_for("ready\n", 2));
    ::kill(job.pid(), signal);
    Outcome done = job.finish();
    EXPECT_EQ(done.exit_code, 128 + signal);
    EXPECT_TRUE(holds(done.err, "(--grace) and has been killed\n")) << done.err;
    EXPECT_GE(job.ms_until_all_gone(), 0);
  }
}

TEST_P(SignalTest, SignalsReachProgramsUnderWrappers) {
  std::string script = std::string(kNodeProgram) + " say:up hang; true";
  Launched job({kTerrane, "run", "-n", "2", "sh", "-c", script}, options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGTERM);
  EXPECT_TRUE(job.marked_processes().empty());
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '?' : text[name_end + 2];
}

bool comes_to(pid_t pid, bool stopped) {
  for (int tries = 0; tries < 2000; ++tries) {
    if ((state_of(pid) == 'T') == stopped) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_P(SignalTest, StopAndContinueHoldForTheWholeJob) {
  Launched job(run_nodes("-n 1", "say:up sleep:400 say:done exit:0"), options());
  ASSERT_TRUE(job.wait_for("up\n"));
  std::string id;
  pid_t node = 0;
  for (pid_t pid : job.marked_processes()) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    file >> id;
    if (id == "cluster_node") node = pid;
  }
  ASSERT_GT(node, 0);
  ::kill(job.pid(), SIGTSTP);
  EXPECT_TRUE(comes_to(job.pid(), true));
  EXPECT_TRUE(comes_to(node, true));
  ::kill(job.pid(), SIGCONT);
  EXPECT_TRUE(comes_to(job.pid(), false));
  EXPECT_TRUE(comes_to(node, false));
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "done"));
}

TEST_P(SignalTest, AJobWhoseOutputNobodyReadsCanBeInterrupted) {
  Launched job(run_nodes("-n 2 --tag-output", "say:up print:100000:100 hang"), options());
  ASSERT_TRUE(job.wait_for("up\n"));
  ::kill(job.pid(), SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(job.pid(), SIGINT);
  for (int tries = 0; tries < 2000 && state_of(job.pid()) != 'Z'; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(state_of(job.pid()), 'Z') << "it waits for a reader that never comes";
}

TEST_P(SignalTest, SignalsIgnoredFromTheStartStayIgnored) {
  Launched::Options nohup = options();
  nohup.before_exec = [] { ::signal(SIGHUP, SIG_IGN); };
  Launched job(run_nodes("-n 1", "say:up sleep:200 exit:0"), nohup);
  ASSERT_TRUE(job.wait_for("up\n"));
  ::kill(job.pid(), SIGHUP);
  EXPECT_EQ(job.finish().exit_code, 0);
}

}  // namespace
}  // namespace terrane::cluster_test
