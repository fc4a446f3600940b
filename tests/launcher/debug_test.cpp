// terrane run --debug: nodes that wait for a debugger, with real gdb.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "launched.h"

namespace terrane::cluster_test {
namespace {

const char* const kGdb = "/usr/bin/gdb";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A job whose output and errors come on one stream.
std::vector<std::string> debugged(const std::string& options, const std::string& actions) {
  return {"/bin/sh", "-c",
          std::string("exec ") + kTerrane + " run " + options + " " + kNodeProgram + " " + actions +
              " 2>&1"};
}

// Whose debugger's command it prints.
std::vector<std::string> waiting_processes(const std::string& text) {
  const std::string before = "waits for a debugger: gdb -q -p ";
  std::vector<std::string> all;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    all.push_back(text.substr(at, text.find(' ', at) - at));
  }
  return all;
}

class DebugTest : public testing::Test {
 protected:
  void SetUp() override {
    bool installed = ::access(kGdb, X_OK) == 0;
    if (!installed) GTEST_SKIP() << "gdb is not installed (Debian: apt install gdb)";
  }

  // Runs what it is given after its name, as terminals do, in the manner of a script.
  std::string make_terminal(const std::string& line) const {
    std::string path = folder_ + "/terminal";
    std::ofstream(path) << "#!/bin/sh\n" << line << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string written(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::string& folder() const { return folder_; }

 private:
  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

TEST_F(DebugTest, NodesWaitUntilADebuggerLetsThemGoOn) {
  Launched job(debugged("-n 2 --debug=wait", "join say:up leave"));
  ASSERT_TRUE(job.wait_for("waits for a debugger", 2)) << job.out();
  auto processes = waiting_processes(job.out());
  ASSERT_EQ(processes.size(), 2u) << job.out();
  EXPECT_FALSE(holds(job.out(), "up"));
  for (const std::string& process : processes) {
    Outcome gdb = Launched({kGdb, "-q", "-batch", "-nx", "-p", process, "-ex", "tcatch exec", "-ex",
                            "continue", "-ex", "info proc exe"})
                      .finish();
    EXPECT_TRUE(holds(gdb.out, std::string("exe = '") + kNodeProgram)) << gdb.out << gdb.err;
  }
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_TRUE(holds(done.out, "up\n"));
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(DebugTest, WhoWaitsForADebuggerIsEndedWithTheJob) {
  Launched job(debugged("-n 2 --debug=wait", "join leave"));
  ASSERT_TRUE(job.wait_for("waits for a debugger", 2)) << job.out();
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGTERM);
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(DebugTest, EachNodeHasADebuggerInATerminal) {
  std::string terminal =
      make_terminal("exec \"$@\" -nx -batch -ex 'info proc exe' > " + folder() + "/said.$4");
  Launched::Options options;
  options.environment = {"TERRANE_TERMINAL=" + terminal};
  Launched job(debugged("-n 2 -v --debug=gdb", "join say:up leave"), options);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_TRUE(holds(done.out, "up\n"));
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    std::string name = file.path().filename();
    if (!name.starts_with("said.")) continue;
    EXPECT_TRUE(holds(done.out, "is process " + name.substr(5))) << name << done.out;
    EXPECT_TRUE(holds(written(name), std::string("exe = '") + kNodeProgram)) << written(name);
    ++seen;
  }
  EXPECT_EQ(seen, 2) << done.out;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(DebugTest, ATerminalThatFailsEndsTheJobWithASentence) {
  Launched::Options options;
  options.environment = {"TERRANE_TERMINAL=" + make_terminal("exit 3")};
  Launched job(debugged("-n 1 --debug=gdb", "join leave"), options);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.out, "the terminal for the debugger of node 0 has failed")) << done.out;
  EXPECT_TRUE(holds(done.out, "--debug=wait")) << done.out;
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST_F(DebugTest, WithoutATerminalItSaysWhatWouldServe) {
  std::string line = std::string("unset TMUX DISPLAY TERRANE_TERMINAL; exec ") + kTerrane +
                     " run -n 2 --debug=gdb true";
  Outcome done = Launched({"/bin/sh", "-c", line}).finish();
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_TRUE(holds(done.err, "--debug=gdb needs terminals: start it inside tmux")) << done.err;
  Launched::Options options;
  options.environment = {"TERRANE_TERMINAL=/no/such/terminal -e"};
  done = Launched({kTerrane, "run", "--debug=gdb", "true"}, options).finish();
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_TRUE(holds(done.err, "there is no command /no/such/terminal here")) << done.err;
}

}  // namespace
}  // namespace terrane::cluster_test
