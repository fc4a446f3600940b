// Nodes that Open MPI's mpirun starts itself: mpirun -n 3 ./program.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/test_folder.h"
#include "launched.h"

namespace terrane::cluster_test {
namespace {

const std::string kPrefix = std::string("TERRANE_PREFIX=") + PREFIX_FOLDER;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> mpirun(int nodes, const char* program, const std::string& arguments) {
  std::vector<std::string> command = {MPIRUN, "--oversubscribe", "-n", std::to_string(nodes)};
  if (is_root()) command.emplace_back("--allow-run-as-root");
  command.emplace_back(program);
  for (const std::string& word : words(arguments)) command.push_back(word);
  return command;
}

// The processes of both nodes, by node; empty: they did not come to wait.
std::vector<pid_t> processes_that_wait(Launched& job) {
  std::vector<pid_t> processes;
  if (!job.wait_for("waits for a debugger: gdb -p ", 2)) return processes;
  for (const char* node : {"node 0 (process ", "node 1 (process "}) {
    std::size_t at = job.out().find(node);
    if (at == std::string::npos) return {};
    processes.push_back(std::atoi(job.out().c_str() + at + std::strlen(node)));
  }
  return processes;
}

// Of processes that are not its children. A debugger passes signals on, and learns of an end before
// anybody else.
class Debugger {
 public:
  bool seize(pid_t process) {
    held_.push_back(process);
    return ::ptrace(PTRACE_SEIZE, process, nullptr, PTRACE_O_TRACESYSGOOD) == 0;
  }

  // Leaves its main thread stopped before that system call.
  bool stop_before(pid_t process, std::uint64_t call) {
    if (::ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr) != 0) return false;
    return until([&](pid_t changed, int status) {
      if (changed != process) return pass_on(changed, status, PTRACE_CONT), false;
      __ptrace_syscall_info info{};
      bool calls = WIFSTOPPED(status) && WSTOPSIG(status) == kCallStop &&
                   ::ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) > 0 &&
                   info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == call;
      if (!calls) pass_on(process, status, PTRACE_SYSCALL);
      return calls;
    });
  }

  bool see_end_of(pid_t process) {
    return !holds(process) || until([&](pid_t changed, int status) {
      pass_on(changed, status, PTRACE_CONT);
      return !holds(process);
    });
  }

  void go_on(pid_t process) { ::ptrace(PTRACE_CONT, process, nullptr, 0); }

 private:
  static constexpr int kCallStop = SIGTRAP | 0x80;

  bool holds(pid_t process) const {
    return std::find(held_.begin(), held_.end(), process) != held_.end();
  }

  // Hands each change of a process's state to `look` until that has seen what it looks for; false:
  // not within 20 s.
  template <typename Look>
  bool until(const Look& look) {
    for (int ms = 0; ms < 20'000; ++ms) {
      for (pid_t process : std::vector<pid_t>(held_)) {
        int status = 0;
        if (::waitpid(process, &status, __WALL | WNOHANG) != process) continue;
        if (!WIFSTOPPED(status)) std::erase(held_, process);
        if (look(process, status)) return true;
      }
      ::usleep(1000);
    }
    return false;
  }

  // Stops for system calls, and those without a signal (PTRACE_EVENT_STOP), pass none on.
  static void pass_on(pid_t process, int status, __ptrace_request how) {
    if (!WIFSTOPPED(status)) return;
    bool signalled = status >> 16 == 0 && WSTOPSIG(status) != kCallStop;
    ::ptrace(how, process, nullptr, signalled ? WSTOPSIG(status) : 0);
  }

  std::vector<pid_t> held_;
};

class MpirunTest : public testing::Test {
 protected:
  void SetUp() override {
    bool installed = ::access(MPIRUN, X_OK) == 0;
    if (!installed) GTEST_SKIP() << "Open MPI is not installed (Debian: apt install openmpi-bin)";
  }

  Launched::Options options() const { return {.environment = {kPrefix, "TMPDIR=" + folder_}}; }
  // Two nodes that do nothing before debuggers hold them.
  Launched waiting_for_debuggers() const {
    Launched::Options asked = options();
    asked.environment.emplace_back("TERRANE_DEBUG=wait");
    std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
    for (std::string& word : mpirun(2, kNodeProgram, "join say:up leave")) command.push_back(word);
    return Launched(command, asked);
  }
  Outcome run_actions(int nodes, const std::string& actions) const {
    return Launched(mpirun(nodes, kNodeProgram, actions), options()).finish();
  }

 private:
  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

TEST_F(MpirunTest, ItsProcessesAreTheNodesOfAJob) {
  Launched job(mpirun(4, COUNTER_BINARY, "300"), options());
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 1200: right\n");
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(MpirunTest, PesOfOpenShmemStartAndEndAndStartAgain) {
  for (const char* mode : {"join", "again", "start-pes"}) {
    Outcome done = Launched(mpirun(3, SHMEM_SETUP_BINARY, mode), options()).finish();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "good\ngood\ngood\n");
  }
}

TEST_F(MpirunTest, OneBinaryOfOpenShmemRunsUnderEveryLauncher) {
  const std::string heat = std::string(SHMEM_HEAT_BINARY) + " --size 90 --steps 40";
  const std::string prefix = PREFIX_FOLDER;
  std::vector<std::vector<std::string>> commands = {
      mpirun(3, SHMEM_HEAT_BINARY, "--size 90 --steps 40"),
      words(prefix + "/bin/terrane run -n 3 " + heat), words(prefix + "/bin/oshrun -np 3 " + heat),
      words(heat)};
  for (const auto& command : commands) {
    Outcome done = Launched(command, options()).finish();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(holds(done.out, "verified: identical to the serial result")) << done.out;
    EXPECT_TRUE(holds(done.out, command.size() == 5 ? " on 1 PEs" : " on 3 PEs")) << done.out;
  }
}

TEST_F(MpirunTest, NodesWaitForTheirDebuggersIfAsked) {
  Launched job = waiting_for_debuggers();
  std::vector<pid_t> processes = processes_that_wait(job);
  ASSERT_EQ(processes.size(), 2u) << job.out();
  EXPECT_FALSE(holds(job.out(), "up"));
  Debugger debugger;
  for (pid_t process : processes) ASSERT_TRUE(debugger.seize(process));
  EXPECT_TRUE(debugger.see_end_of(processes[0]) && debugger.see_end_of(processes[1]));
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_TRUE(holds(done.out, "up\n")) << done.out;
}

TEST_F(MpirunTest, WhoComesAfterTheOthersHaveLeftIsLetIn) {
  Launched job = waiting_for_debuggers();
  std::vector<pid_t> processes = processes_that_wait(job);
  ASSERT_EQ(processes.size(), 2u) << job.out();
  Debugger debugger;
  for (pid_t process : processes) ASSERT_TRUE(debugger.seize(process));
  // Node 1 has met node 0 by PMIx, and is before the door of its host.
  ASSERT_TRUE(debugger.stop_before(processes[1], SYS_connect));
  ASSERT_TRUE(debugger.see_end_of(processes[0]));
  debugger.go_on(processes[1]);
  EXPECT_TRUE(debugger.see_end_of(processes[1]));
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_TRUE(holds(done.out, "up\n")) << done.out;
}

TEST_F(MpirunTest, AnotherWayOfDebuggingIsRefused) {
  Launched::Options asked = options();
  asked.environment.emplace_back("TERRANE_DEBUG=gdb");
  Outcome done = Launched(mpirun(2, kNodeProgram, "join"), asked).finish();
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "there is TERRANE_DEBUG=wait alone")) << done.out;
}

TEST_F(MpirunTest, CardsAndDescriptorsReachEveryNode) {
  Outcome done = run_actions(3, "join exchange:100000:3 exchange:10:1 @1 show:place @all leave");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "node 1 of 3, on host 3, news yes\n");
}

TEST_F(MpirunTest, OneProcessIsAJobOfOne) {
  Outcome done = run_actions(1, "join exchange:10:1 show:place leave");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "node 0 of 1, on host 1, news no\n");
}

TEST_F(MpirunTest, ANodesDeathEndsTheJobWithASentence) {
  Outcome done = run_actions(3, "join exchange:10:1 @1 kill:9 @0 hang @2 hang");
  EXPECT_EQ(done.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(holds(done.err, "terrane: node 1 (process ")) << done.err;
  EXPECT_TRUE(holds(done.err, "was killed by SIGKILL (signal 9)")) << done.err;
}

TEST_F(MpirunTest, TheFirstFailuresExitCodeIsTheJobs) {
  Outcome done = run_actions(3, "join exchange:10:1 @1 fail:9:the-disk-is-full @0 hang @2 hang");
  EXPECT_EQ(done.exit_code, 9) << done.err;
  EXPECT_TRUE(holds(done.err, "ended the job: the-disk-is-full")) << done.err;
}

TEST_F(MpirunTest, WhoEndsWithoutLeavingHasFailed) {
  Outcome done = run_actions(3, "join exchange:10:1 @1 exit:0 @0 exchange:10:1 @2 exchange:10:1");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.err, "ended without leaving the job")) << done.err;
}

// One that ends while others have reached PMIx is seen by mpirun itself.
TEST_F(MpirunTest, AProcessThatEndsBeforeItJoinsIsNamedAndTheOthersDoNotWaitForEver) {
  Outcome done = run_actions(3, "@1 exit:0 @0 sleep:500 join @2 sleep:500 join");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "join failed: process 1 of the job ended on host ")) << done.out;
}

TEST_F(MpirunTest, AProcessThatIsLateIsNamed) {
  Launched::Options patience = options();
  patience.environment.emplace_back("TERRANE_START_TIMEOUT=0.5");
  Outcome done = Launched(mpirun(3, kNodeProgram, "@2 hang @0 join @1 join"), patience).finish();
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "within 0.5 s: process 2 on host ")) << done.out;
  patience.environment.back() = "TERRANE_START_TIMEOUT=soon";
  done = Launched(mpirun(2, kNodeProgram, "join"), patience).finish();
  EXPECT_TRUE(holds(done.out, "TERRANE_START_TIMEOUT=soon: must be a number of seconds"))
      << done.out;
}

TEST_F(MpirunTest, AGlobalExitWith0IsNoFailure) {
  for (int code : {0, 37}) {
    std::string mode = "exit-" + std::to_string(code);
    Outcome done = Launched(mpirun(4, SHMEM_SETUP_BINARY, mode), options()).finish();
    EXPECT_EQ(done.exit_code, code) << done.err;
    EXPECT_FALSE(holds(done.err, "terrane: ")) << done.err;
    if (code == 0) {
      EXPECT_EQ(done.err, "");
    }
  }
}

TEST_F(MpirunTest, NoProcessOutlivesAKilledMpirun) {
  Launched job(mpirun(3, kNodeProgram, "join exchange:10:1 say:up ignore:15 hang"), options());
  ASSERT_TRUE(job.wait_for("up", 3));
  ::kill(job.pid(), SIGKILL);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(MpirunTest, ItsNodesDieWithTheirEngine) {
  Launched job(mpirun(2, kNodeProgram, "join exchange:10:1 say:up hang"), options());
  ASSERT_TRUE(job.wait_for("up", 2));
  for (pid_t pid : job.marked_processes()) {
    char name[64] = {};
    std::string path = "/proc/" + std::to_string(pid) + "/comm";
    FILE* file = std::fopen(path.c_str(), "r");
    if (file && std::fgets(name, sizeof name, file) && holds(name, "job-engine")) {
      ::kill(pid, SIGKILL);
    }
    if (file) std::fclose(file);
  }
  EXPECT_NE(job.finish().exit_code, 0);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(MpirunTest, WithoutTheCommandTerraneItSaysWhatIsMissing) {
  Launched::Options nowhere = options();
  nowhere.environment.emplace_back("TERRANE_PREFIX=/nonexistent");
  Outcome done = Launched(mpirun(2, kNodeProgram, "join"), nowhere).finish();
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "there is no /nonexistent/bin/terrane")) << done.out;
}

}  // namespace
}  // namespace terrane::cluster_test
