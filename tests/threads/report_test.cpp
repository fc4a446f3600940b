// The page of jobs with shared pages (--report, terrane report): of threads and pages.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class PageReportTest : public testing::Test {
 protected:
  // A job that writes its logs.
  Outcome job(const std::string& command, const std::string& program) {
    std::filesystem::remove_all(logs());
    Outcome outcome =
        Launched(words(fmt::format("{} {} --report {} {}", kTerrane, command, logs(), program)))
            .finish();
    EXPECT_FALSE(outcome.timed_out) << command << " " << program << " hangs";
    return outcome;
  }
  Outcome threads(int nodes, const std::string& what, const std::string& program = SHARED_PROGRAM) {
    return job(fmt::format("threads -n {} --placement 1", nodes),
               fmt::format("{} {} {}", program, what, nodes));
  }
  static void expect_good(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "good")) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  // The page, checked, and the trace with it.
  std::string report(std::string* said = nullptr, std::string* events = nullptr) {
    std::string trace = folder_ + "/trace.json";
    Outcome made =
        Launched({kTerrane, "report", logs(), "-o", page(), "--perfetto", trace}).finish();
    EXPECT_EQ(made.exit_code, 0) << made.err;
    if (said != nullptr) *said = made.err;
    Outcome checked = Launched({"python3", CHECK_REPORT, page(), trace}).finish();
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    if (events != nullptr) *events = checked.out;
    std::ifstream file(page());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string logs() const { return folder_ + "/logs"; }
  std::string page() const { return folder_ + "/page.html"; }

  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

TEST_F(PageReportTest, FalseSharingIsNamedAndDrawn) {
  for (int nodes : {2, 3}) {
    expect_good(threads(nodes, "counters"));
    std::string text = report();
    EXPECT_TRUE(has(text, "<b>false sharing</b>: node 0 writes counters, bytes ")) << text;
    EXPECT_TRUE(has(text, "title=\"node 1, ")) << text;
    EXPECT_TRUE(has(text, "Remedy: give what each node writes pages of its own")) << text;
    for (int node = 0; node < nodes; ++node)
      EXPECT_TRUE(has(text, fmt::format("<span>node {} thread ", node))) << text;
    EXPECT_TRUE(has(text, "<title>barrier: ")) << text;
    EXPECT_TRUE(has(text, "<table id=\"moved\">")) << text;
    EXPECT_TRUE(has(text, "<div id=\"homes\">")) << text;
  }
}

TEST_F(PageReportTest, ALockThatTravelsIsNamed) {
  expect_good(threads(3, "lock"));
  std::string events, text = report(nullptr, &events);
  EXPECT_TRUE(has(text, "of its time for the lock hot_lock, which came from other nodes")) << text;
  EXPECT_TRUE(has(text, "<td>the lock hot_lock</td>")) << text;
  EXPECT_TRUE(has(events, "X the lock hot_lock = ")) << events;
}

TEST_F(PageReportTest, AMasterThatFillsAllIsNamedWithTheLineOfItsData) {
  expect_good(threads(3, "master"));
  std::string text = report();
  EXPECT_TRUE(has(text, "came from node 0, which had filled them")) << text;
  EXPECT_TRUE(has(text, "<td>shared_program.c:")) << text;
  EXPECT_TRUE(has(text, "<div class=\"strip\"><span>shared_program.c:")) << text;
}

TEST_F(PageReportTest, ProgramsWithPagesHaveOne) {
  Outcome outcome = job("run -n 2", PAGES_PROGRAM " counters");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::string text = report();
  EXPECT_TRUE(has(text, "<b>false sharing</b>: node 0 writes counters")) << text;
  EXPECT_TRUE(has(text, "<td>counters</td>")) << text;
}

TEST_F(PageReportTest, AStrippedProgramHasAddressesAndAHint) {
  std::string stripped = folder_ + "/program";
  Outcome made = Launched({"strip", "-o", stripped, SHARED_PROGRAM}).finish();
  if (made.exit_code != 0) GTEST_SKIP() << "strip(1) is not here: " << made.err;
  expect_good(threads(2, "lock", stripped));
  std::string text = report();
  EXPECT_TRUE(has(text, "for the mutex at 0x")) << text;
  EXPECT_TRUE(has(text, "compile with -g, do not strip it")) << text;
}

TEST_F(PageReportTest, AKilledJobIsReadAsFarAsItGoes) {
  Outcome outcome = threads(2, "dies");
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
  std::string said, text = report(&said);
  EXPECT_TRUE(has(said, "did not leave the job in order: its log reads up to ")) << said;
  EXPECT_TRUE(has(text, "The job did not end in order")) << text;
  EXPECT_TRUE(has(text, "<span>node 1 thread ")) << text;
}

TEST_F(PageReportTest, AFolderThatCannotServeIsRefused) {
  expect_good(threads(2, "clean"));
  Outcome again =
      Launched(words(fmt::format("{} threads --report {} true", kTerrane, logs()))).finish();
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(has(again.err, "another job's event logs are there")) << again.err;
}

// By the launcher, and by a node whose host has another folder there.
TEST_F(PageReportTest, AReadOnlyFolderIsRefused) {
  std::filesystem::create_directory(logs());
  auto run = [this](const std::string& line, std::vector<std::string> environment) {
    Launched::Options options{.environment = std::move(environment), .before_exec = [this] {
                                if (::unshare(CLONE_NEWNS) != 0 ||
                                    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
                                    ::mount("tmpfs", logs().c_str(), "tmpfs", MS_RDONLY, nullptr))
                                  ::_exit(77);
                              }};
    return Launched(words(line), std::move(options)).finish();
  };
  std::string program = SHARED_PROGRAM " clean 2";
  for (const char* command : {"threads -n 2", "omp -n 2", "run -n 2"}) {
    Outcome refused =
        run(fmt::format("{} {} --report {} {}", kTerrane, command, logs(), program), {});
    if (refused.exit_code == 77) GTEST_SKIP() << "no file system can be mounted here";
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_TRUE(has(refused.err, "Read-only file system; give a folder that can be written"))
        << refused.err;
  }
  Outcome ended =
      run(fmt::format("{} threads -n 2 {}", kTerrane, program), {"TERRANE_REPORT=" + logs()});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.err, "terrane: node ")) << ended.err;
  EXPECT_TRUE(has(ended.err, "cannot write the event log " + logs())) << ended.err;
}

TEST_F(PageReportTest, APageCanBeReadInABrowserOfAnyWidthAndColour) {
  expect_good(threads(3, "lock"));
  report();
  Outcome checked = Launched({"python3", CHECK_IN_BROWSER, page()}).finish();
  if (checked.exit_code == 77) GTEST_SKIP() << checked.out;
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace terrane::cluster_test
