// What goes in and comes out of a job, and the settings that nodes get.

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "base/test_folder.h"
#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class OutputTest : public UserTest {};
TERRANE_FOR_BOTH_USERS(OutputTest);

TEST_P(OutputTest, TaggedLinesAreNeverTornWhateverTheVolume) {
  constexpr int kNodes = 4, kLines = 20'000, kLength = 117;
  Outcome done = run_job("-n 4 --tag-output", "print:20000:117 exit:0");
  EXPECT_EQ(done.exit_code, 0);
  std::map<std::string, int> lines;
  std::istringstream text(done.out);
  for (std::string line; std::getline(text, line);) ++lines[line];
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kNodes));
  for (int node = 0; node < kNodes; ++node) {
    std::string whole =
        "[" + std::to_string(node) + "] " + std::string(kLength, static_cast<char>('a' + node));
    EXPECT_EQ(lines[whole], kLines);
  }
}

TEST_P(OutputTest, TaggedOutputKeepsErrorsApartAndEndsALineThatHasNoEnd) {
  Outcome done = run_job("-n 2 --tag-output", "say:one mutter:two exit:0");
  std::string swapped = "[1] one\n[0] one\n";
  EXPECT_TRUE(done.out == "[0] one\n[1] one\n" || done.out == swapped) << done.out;
  EXPECT_TRUE(holds(done.err, "[0] two\n"));
  EXPECT_TRUE(holds(done.err, "[1] two\n"));
}

TEST_P(OutputTest, TheLastWordsOfADyingNodeAreTagged) {
  Outcome done = run_job("-n 2 --tag-output", "@1 mutter:farewell kill:9 @0 hang");
  EXPECT_EQ(done.exit_code, 128 + 9);
  EXPECT_TRUE(holds(done.err, "[1] farewell\n"));
}

TEST_P(OutputTest, AReaderThatPausesLosesNothing) {
  Launched job(run_nodes("-n 2 --tag-output", "print:20000:50 exit:0"), options());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 40'000);
}

TEST_P(OutputTest, AReaderThatLeavesEndsTheWriters) {
  for (const char* tag : {"", "--tag-output"}) {
    std::string line = std::string(kTerrane) + " run -n 2 " + tag + " " + kNodeProgram +
                       " print:100000000:50 | head -n 1";
    Launched job({"sh", "-c", line}, options());
    Outcome done = job.finish();
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1);
  }
}

TEST_P(OutputTest, StandardInputGoesToNode0Alone) {
  Launched::Options typed = options();
  typed.input = "some words\n";
  Outcome done = run("-n 3 --tag-output", "echo exit:0", typed);
  EXPECT_TRUE(holds(done.out, "[0] some words\n"));
  EXPECT_TRUE(holds(done.out, "[0] end of input\n"));
  EXPECT_TRUE(holds(done.out, "[1] end of input\n"));
  EXPECT_TRUE(holds(done.out, "[2] end of input\n"));
  EXPECT_FALSE(holds(done.out, "[1] some"));
}

TEST_P(OutputTest, SettingsReachTheNodes) {
  std::string line =
      "-n 1 --fault-source uffd-sync --memory 512M --transport shm -x TERRANE_EXTRA=a=b";
  Outcome done = run_job(line, "join show:environment leave");
  for (const char* one : {"TERRANE_FAULT_SOURCE=uffd-sync ", "TERRANE_MEMORY=512M ",
                          "TERRANE_TRANSPORT=shm ", "TERRANE_EXTRA=a=b "}) {
    EXPECT_TRUE(holds(done.out, one));
  }
  Outcome place = Launched({kTerrane, "run", "-n", "2", "--tag-output", "sh", "-c",
                            "echo $TERRANE_NODE of $TERRANE_NODES"},
                           options())
                      .finish();
  EXPECT_TRUE(holds(place.out, "[1] 1 of 2\n"));
}

TEST_P(OutputTest, TheFolderIsWhereTheNodesRun) {
  Outcome done =
      Launched({kTerrane, "run", "-n", "2", "--wdir", "/usr", "pwd"}, options()).finish();
  EXPECT_EQ(done.out, "/usr\n/usr\n");
}

TEST_P(OutputTest, BoundNodesRunOnOneCore) {
  Outcome free = run_job("-n 1", "show:cpus");
  Outcome bound = run_job("-n 3 --bind-to core", "show:cpus");
  int all = std::stoi(free.out.substr(5)), one = std::stoi(bound.out.substr(5));
  EXPECT_EQ(bound.exit_code, 0);
  EXPECT_LE(one, all);
  EXPECT_GE(one, 1);
}

TEST_P(OutputTest, NodesThatFitHaveTheirShareOfTheCores) {
  Outcome free = run_job("-n 1 --bind-to none", "show:cpus");
  EXPECT_EQ(run_job("-n 1 --bind-to share", "show:cpus").out, free.out);
  unsigned many = std::thread::hardware_concurrency() + 1;
  std::string too_many = "-n " + std::to_string(many) + " --bind-to share";
  EXPECT_EQ(count(run_job(too_many, "show:cpus").out, free.out), static_cast<int>(many));
}

TEST_P(OutputTest, ClosedStandardDescriptorsDoNoHarm) {
  Launched::Options closed = options();
  closed.before_exec = [] {
    ::close(0);
    ::close(2);
  };
  Outcome done = run("-n 2", "echo join exchange:10:3 mutter:lost leave", closed);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "end of input\nend of input\n");
}

TEST(NoticeTest, VerboseSaysWhatIsDoneAndSharingIsNoticed) {
  Outcome done = run("-n 3 --verbose", "join exchange:0:0 leave");
  EXPECT_TRUE(holds(done.err, "starting 3 nodes of "));
  EXPECT_TRUE(holds(done.err, "node 2 is process "));
  EXPECT_TRUE(holds(done.err, "all 3 nodes have joined, "));
  unsigned many = 4 * std::thread::hardware_concurrency() + 1;
  if (many > 128) GTEST_SKIP() << "too many processors to share them";
  done = run("-n " + std::to_string(many), "exit:0");
  EXPECT_TRUE(holds(done.err, std::to_string(many) + " nodes share "));
  EXPECT_EQ(run("-n 2", "exit:0").err, "");
}

TEST(LitterTest, NothingIsLeftInSharedMemoryOrTheTemporaryFolder) {
  if (!is_root()) GTEST_SKIP() << "only root can have a /dev/shm of its own";
  base::TestFolder folder;
  auto own_places = [&folder] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
        ::mount("none", "/dev/shm", "tmpfs", 0, "size=1m") != 0) {
      ::_exit(97);
    }
    ::setenv("TMPDIR", folder.path().c_str(), 1);
  };
  std::string line = std::string(kTerrane) + " run -n 3 --tag-output " + kNodeProgram +
                     " join exchange:10:3 @1 kill:9 @all hang; " + kTerrane + " run -n 3 " +
                     kNodeProgram + " join exchange:10:3 leave; ls -A /dev/shm $TMPDIR";
  Outcome done = Launched({"sh", "-c", line}, {.before_exec = own_places}).finish();
  if (done.exit_code == 97) GTEST_SKIP() << "root may not mount here";
  EXPECT_EQ(done.out, "/dev/shm:\n\n" + folder.path() + ":\n");
}

// What is typed reaches node 0 although it is not in the terminal's foreground; Ctrl-C reaches
// every node.
TEST(TerminalTest, TypedInputAndInterruptsReachTheNodes) {
  int terminal = -1;
  pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl(kTerrane, kTerrane, "run", "-n", "2", kNodeProgram, "echo", "hang", nullptr);
    ::_exit(98);
  }
  std::string text = "typed\n";
  ASSERT_EQ(::write(terminal, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::string seen;
  auto read_until = [&](const std::string& wanted, std::size_t times) {
    std::size_t count = 0;
    for (int tries = 0; tries < 100; ++tries) {
      count = 0;
      for (std::size_t at = 0; (at = seen.find(wanted, at)) != std::string::npos; ++at) ++count;
      pollfd ready{terminal, POLLIN, 0};
      char part[512];
      if (count >= times || ::poll(&ready, 1, 100) < 0) break;
      ssize_t got = ready.revents ? ::read(terminal, part, sizeof part) : 0;
      if (got > 0) seen.append(part, static_cast<std::size_t>(got));
    }
    return count >= times;
  };
  EXPECT_TRUE(read_until("typed\r\n", 2)) << seen;  // the terminal's own echo, and node 0's
  EXPECT_EQ(::write(terminal, "\x03", 1), 1);
  EXPECT_TRUE(read_until("was ended by SIGINT", 1)) << seen;
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  ::close(terminal);
}

TEST_P(OutputTest, OutputThatCannotBeWrittenIsAnErrorOfItsOwn) {
  Launched::Options full = options();
  full.before_exec = [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  for (const char* words : {"say:up exit:0", "say:up print:100000:100 hang"}) {
    Launched job(run_nodes("-n 2 --tag-output", words), full);
    Outcome done = job.finish();
    EXPECT_EQ(done.exit_code, 74) << done.err;
    EXPECT_TRUE(holds(done.err, "the job's output cannot be written (No space left on device)"));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  }
}

}  // namespace
}  // namespace terrane::cluster_test
