// Jobs on several "hosts": this machine under other names, reached by fake_rsh.sh.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class HostsTest : public UserTest {
 protected:
  Launched::Options options() const {
    return {.environment = {"TERRANE_RSH=" FAKE_RSH}, .as_nobody = GetParam()};
  }
  Outcome run_hosts(const std::string& run_options, const std::string& actions) const {
    return run(run_options, actions, options());
  }
};
TERRANE_FOR_BOTH_USERS(HostsTest);

long lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

std::string command_line_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text, word;
  while (std::getline(file, word, '\0')) text += word + " ";
  return text;
}

// The guard of a host's engine, by the host's index.
pid_t guard_of(const Launched& job, int host) {
  std::string index = "--index " + std::to_string(host) + " ";
  for (pid_t pid : job.marked_processes()) {
    std::string line = command_line_of(pid);
    if (line.find("host-engine") != std::string::npos && line.find(index) != std::string::npos) {
      return pid;
    }
  }
  return 0;
}

pid_t child_of(pid_t parent) {
  std::string id = std::to_string(parent);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

TEST_P(HostsTest, NodesKnowTheirHostsAndExchangeCards) {
  Outcome done =
      run_hosts("-H h0:2,h1:3", "join exchange:100:2 show:place exchange:1500000:1 leave");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
  EXPECT_TRUE(holds(done.out, "node 1 of 5, on host 2, news yes\n"));
  EXPECT_TRUE(holds(done.out, "node 4 of 5, on host 3, news yes\n"));
  EXPECT_EQ(done.err, "");
}

TEST_P(HostsTest, ThisHostMayBeOneOfThem) {
  Outcome done = run_hosts("-H localhost:2,h1", "join exchange:100:2 show:hosts leave");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
  EXPECT_TRUE(holds(done.out, "hosts 0 0 1: localhost localhost h1\n"));
  EXPECT_EQ(run_hosts("-H localhost:2", "join show:hosts leave").out,
            "hosts 0 0: localhost localhost\nhosts 0 0: localhost localhost\n");
}

TEST_P(HostsTest, SixtyFourNodesOnFourHosts) {
  Outcome done = run_hosts("-H h0:16,h1:16,h2:16,h3:16", "join exchange:1000:3 leave");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
}

TEST_P(HostsTest, MapByNodeTakesTheHostsInTurn) {
  Outcome done = run_hosts("-n 4 --map-by node -H h0:3,h1:3", "join @0 show:hosts @all leave");
  EXPECT_EQ(done.out, "hosts 0 1 0 1: h0 h1 h0 h1\n") << done.err;
}

TEST_P(HostsTest, OutputComesUnchangedAndTaggedLinesWhole) {
  constexpr int kLines = 5000, kLength = 117;
  Outcome done = run_hosts("-H h0:2,h1:2 --tag-output", "print:5000:117 mutter:bye exit:0");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::map<std::string, int> seen;
  std::istringstream text(done.out);
  for (std::string line; std::getline(text, line);) ++seen[line];
  for (int node = 0; node < 4; ++node) {
    EXPECT_EQ(seen["[" + std::to_string(node) + "] " +
                   std::string(kLength, static_cast<char>('a' + node))],
              kLines);
    EXPECT_TRUE(holds(done.err, "[" + std::to_string(node) + "] bye\n"));
  }
  done = run_hosts("-H h0,h1", "print:5000:117 mutter:bye exit:0");
  EXPECT_EQ(done.out.size(), static_cast<std::size_t>(2 * kLines * (kLength + 1)));
  EXPECT_EQ(done.err, "byebye");
}

TEST_P(HostsTest, AReaderThatPausesOrLeavesIsFeltOnTheOtherHost) {
  Launched job(run_nodes("-H h0,h1", "print:20000:50 exit:0"), options());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Outcome done = job.finish();
  EXPECT_EQ(lines(done.out), 40'000);
  std::string line = std::string(kTerrane) + " run -H h0,h1 " + kNodeProgram +
                     " print:100000000:50 2>/dev/null | head -n 1";
  done = Launched({"sh", "-c", line}, options()).finish();
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(lines(done.out), 1);
}

TEST_P(HostsTest, StandardInputReachesNode0OnAnotherHost) {
  Launched::Options typed = options();
  typed.input = "some words\n";
  Outcome done = run("-H h0,h1 --tag-output", "echo exit:0", typed);
  EXPECT_TRUE(holds(done.out, "[0] some words\n")) << done.err;
  EXPECT_TRUE(holds(done.out, "[0] end of input\n"));
  EXPECT_TRUE(holds(done.out, "[1] end of input\n"));
  EXPECT_FALSE(holds(done.out, "[1] some"));
  std::string line = "seq 1 200000 | " + std::string(kTerrane) + " run -H h0,h1 " + kNodeProgram +
                     " @0 echo | cksum; { seq 1 200000; echo end of input; } | cksum";
  done = Launched({"sh", "-c", line}, options()).finish();
  EXPECT_EQ(done.out.substr(0, done.out.size() / 2), done.out.substr(done.out.size() / 2));
}

TEST_P(HostsTest, SettingsAndTheFolderReachTheOtherHost) {
  Launched::Options set = options();
  set.environment.push_back("UCX_SOMETHING=1");
  set.environment.push_back("MY_OWN=here");
  Outcome done = run("-H h1 --memory 512M -x MY_OWN -x TERRANE_EXTRA=a=b --wdir /usr",
                     "show:environment", set);
  for (const char* one : {"TERRANE_MEMORY=512M ", "TERRANE_EXTRA=a=b "}) {
    EXPECT_TRUE(holds(done.out, one));
  }
  EXPECT_FALSE(holds(done.out, "TERRANE_HOST_SECRET"));
  done = Launched({kTerrane, "run", "-H", "h0,h1", "--wdir", "/usr", "pwd"}, options()).finish();
  EXPECT_EQ(done.out, "/usr\n/usr\n");
}

TEST_P(HostsTest, ANodesDeathEndsTheJobOnAllHosts) {
  Launched job(run_nodes("-H h0:2,h1:2", "join ignore:15 exchange:0:0 @3 kill:11 @all news hang"),
               options());
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 128 + 11);
  EXPECT_EQ(done.out, "news\nnews\nnews\n");
  EXPECT_TRUE(holds(done.err, " on h1) was killed by SIGSEGV (signal 11)"));
  EXPECT_TRUE(holds(done.err, "the other 3 nodes are being ended"));
  EXPECT_EQ(lines(done.err), 1) << done.err;
  EXPECT_TRUE(job.marked_processes().empty());
}

TEST_P(HostsTest, ExitCodesAndSentencesOfTheOtherHostAreTheJobs) {
  Outcome done = run_hosts("-H h0,h1", "@1 exit:42 @0 hang");
  EXPECT_EQ(done.exit_code, 42);
  EXPECT_TRUE(holds(done.err, " on h1) exited with code 42: "));
  done = run_hosts("-H h0,h1", "join exchange:0:0 @1 fail:7:no-memory-left @0 news");
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_TRUE(holds(done.err, " on h1) ended the job: no-memory-left"));
  done = run_hosts("-H h0,h1", "@0 join exchange:0:0 leave");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.out, "node 1 of 2 has ended without joining the job"));
  EXPECT_EQ(run_hosts("-H h0,h1 --timeout 0.3", "join hang").exit_code, 124);
}

// Root in a container may not, either.
bool may_raise_its_priority() {
  pid_t child = ::fork();
  if (child == 0) ::_exit(::setpriority(PRIO_PROCESS, 0, -10) == 0 ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

// A node's parent is the engine of its host.
TEST_P(HostsTest, EnginesRunAtARaisedPriorityAndNodesAtThatOfTheLauncher) {
  std::string own = std::to_string(::getpriority(PRIO_PROCESS, 0) + 1) + "\n";
  for (const char* host : {"--tag-output", "-H h0", "-H h1 --tag-output"}) {
    std::string script = "nice; cut -d' ' -f19 /proc/$PPID/stat";
    std::vector<std::string> command = words(std::string("nice -n 1 ") + kTerrane + " run " + host);
    for (const char* word : {"sh", "-c", script.c_str()}) command.emplace_back(word);
    Outcome done = Launched(command, options()).finish();
    std::string tag = holds(host, "--tag") ? "[0] " : "";
    bool raised = !GetParam() && may_raise_its_priority();
    EXPECT_EQ(done.out, tag + own + tag + (raised ? "-10\n" : own)) << host << done.err;
  }
}

TEST_P(HostsTest, SignalsReachEveryHost) {
  Launched job(run_nodes("-H h0:2,h1", "signals exit:0"), options());
  ASSERT_TRUE(job.wait_for("ready\n", 3));
  for (int signal : {SIGUSR1, SIGINT, SIGTERM}) {
    ::kill(job.pid(), signal);
    ASSERT_TRUE(job.wait_for(std::string("got SIG") + ::sigabbrev_np(signal) + "\n", 3));
  }
  EXPECT_EQ(job.finish().exit_code, 0);
}

TEST_P(HostsTest, StopAndContinueRaiseNoAlarm) {
  Launched job(run_nodes("-H h0,h1 --heartbeat 0.2", "join exchange:0:0 say:up sleep:1500 leave"),
               options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(job.pid(), SIGTSTP);
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  ::kill(job.pid(), SIGCONT);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_P(HostsTest, AHostWhoseEngineDiesEndsTheJob) {
  for (bool guard : {true, false}) {
    Launched job(run_nodes("-H h0,h1", "join ignore:15 exchange:0:0 daemon say:up hang"),
                 options());
    ASSERT_TRUE(job.wait_for("up\n", 2));
    pid_t victim = guard_of(job, 1);
    ASSERT_GT(victim, 0);
    if (!guard) victim = child_of(victim);
    ::kill(victim, SIGKILL);
    Outcome done = job.finish();
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_TRUE(holds(done.err, "node 1 on host h1: the engine of this host has gone"));
    EXPECT_EQ(lines(done.err), 1) << done.err;
    EXPECT_GE(job.ms_until_all_gone(), 0);
  }
}

TEST_P(HostsTest, AHostWhoseEngineIsStoppedEndsTheJob) {
  Launched job(run_nodes("-H h0,h1 --heartbeat 0.3", "join ignore:15 exchange:0:0 say:up hang"),
               options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  pid_t guard = guard_of(job, 1);
  ASSERT_GT(guard, 0);
  ::kill(child_of(guard), SIGSTOP);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  // Its own guard may be faster than the hub.
  EXPECT_TRUE(holds(done.err, "node 1 on host h1: "));
  EXPECT_EQ(lines(done.err), 1) << done.err;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_P(HostsTest, AStoppedNodeOnAnotherHostEndsTheJob) {
  Outcome done = run_hosts("-H h0,h1 --heartbeat 0.3", "join exchange:0:0 @1 kill:19 @0 hang");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "node 1 on host h1: no sign of life for 0.3 s (process "));
}

TEST_P(HostsTest, TheLaunchersDeathLeavesNoProcessOnAnyHost) {
  for (bool front : {true, false}) {
    Launched job(run_nodes("-H h0:2,h1", "join ignore:15 exchange:0:0 daemon say:up hang"),
                 options());
    ASSERT_TRUE(job.wait_for("up\n", 3));
    ::kill(front ? job.pid() : child_of(job.pid()), SIGKILL);
    EXPECT_GE(job.ms_until_all_gone(), 0);
    EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  }
}

TEST_P(HostsTest, AStoppedHubLeavesNoProcessOnOtherHosts) {
  Launched job(run_nodes("-H h0,h1 --heartbeat 0.3", "join ignore:15 exchange:0:0 say:up hang"),
               options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(child_of(job.pid()), SIGSTOP);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "the engine of this job"));
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_P(HostsTest, AJobMaySurviveTheLossOfAHost) {
  Launched job(
      run_nodes("-H h0,h1 --on-death survive", "join exchange:0:0 say:up @1 hang @0 news leave"),
      options());
  ASSERT_TRUE(job.wait_for("up\n", 2));
  ::kill(guard_of(job, 1), SIGKILL);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.out, "news of node 1: node 1 on host h1: the engine of this host"));
}

}  // namespace
}  // namespace terrane::cluster_test
