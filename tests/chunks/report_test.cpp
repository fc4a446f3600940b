// Event logs of jobs, and terrane report.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ReportTest : public testing::Test {
 protected:
  static Outcome launch(std::vector<std::string> command) {
    return Launched(std::move(command)).finish();
  }
  Outcome job(const std::string& options, const std::string& arguments = "") {
    return launch(words(std::string(kTerrane) + " run " + options + " --report " + logs() + " " +
                        REPORT_PROGRAM + " " + arguments));
  }
  // Both kinds of report, checked; what the trace holds, a line for each kind of event.
  std::string report(std::string* said = nullptr) {
    Outcome made =
        launch({kTerrane, "report", logs(), "-o", page(), "--perfetto", folder_ + "/trace.json"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    if (said != nullptr) *said = made.err;
    Outcome checked = launch({"python3", CHECK_REPORT, page(), folder_ + "/trace.json"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    return fmt::format("\n{}", checked.out);
  }
  std::string refused(const std::string& path) {
    Outcome made = launch({kTerrane, "report", path, "-o", page()});
    EXPECT_EQ(made.exit_code, 1);
    return made.err;
  }
  std::string logs() const { return folder_ + "/logs"; }
  std::string page() const { return folder_ + "/page.html"; }
  std::string page_text() const {
    std::ifstream file(page());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }

  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

// Names of chunks may be any bytes.
const std::string kState = "state <&\"\\xff>";

TEST_F(ReportTest, CountsWhatTheProgramDid) {
  for (const char* options : {"-n 4 --servers 2", "-n 3"}) {
    std::filesystem::remove_all(logs());
    Outcome outcome = job(std::string(options) + " --report-every 1");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::string said, found = report(&said);
    EXPECT_FALSE(has(said, "terrane: node")) << said;
    for (int node = 0; node < options[3] - '0'; ++node) {
      auto expect = [&](const std::string& what, int times) {
        EXPECT_TRUE(has(found, fmt::format("\n{} {} = {}\n", node, what, times)))
            << node << " " << what << " " << times << found;
      };
      expect("b read " + kState, 20);
      expect("b write " + kState, node == 0 ? 7 : 6);
      expect("b read-write " + kState, 4);
      // Scopes that opened at once have no event of their opening.
      EXPECT_TRUE(node == 0 || has(found, fmt::format("\n{} X open ", node))) << found;
      if (node > 0) expect("X no read " + kState, 1);
      if (node == 0) expect("X publish frames", 7);
      if (node == 1) expect("X take frames", 7);
      if (node > 1) expect("X handler frames", 7);
      expect("b read-write mine", 3);
      expect("X barrier all", 3);
      expect("X signal here", 1);
      expect("X await here", 1);
    }
    std::string text = page_text();
    EXPECT_FALSE(has(text, "id=\"sampled\""));
    // What was slow, a time axis, texts for the pointer, narrow and dark screens.
    EXPECT_TRUE(has(text, "<p id=\"slow\">")) << text;
    EXPECT_TRUE(has(text, "<h1>chunks_report_program</h1>")) << text;
    EXPECT_TRUE(has(text, "<p id=\"command\"><code>")) << text;
    EXPECT_TRUE(has(text, "<td>node 1</td><td>7</td><td>0</td>")) << text;
    EXPECT_TRUE(has(text, ">longest latency</text>")) << text;
    EXPECT_TRUE(has(text, "Of locks, barriers and signals")) << text;
    EXPECT_TRUE(has(text, ">0 ns</text>")) << text;
    EXPECT_TRUE(has(text, "<title>modified</title>")) << text;
    EXPECT_TRUE(has(text, "prefers-color-scheme:dark") && has(text, "max-width:1500px")) << text;
    EXPECT_TRUE(has(text, "<td>state &lt;&amp;&quot;\\xff&gt;</td>"));
    EXPECT_TRUE(has(text, ">barrier</td>") && has(text, ">lock</td>") && has(text, ">signal</td>"));
  }
}

TEST_F(ReportTest, APageCanBeReadInABrowserOfAnyWidthAndColour) {
  Outcome outcome = job("-n 4", std::string(255, 'x'));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  report();
  EXPECT_FALSE(has(page_text(), "took the versions of all"));
  Outcome checked = launch({"python3", CHECK_IN_BROWSER, page()});
  if (checked.exit_code == 77) GTEST_SKIP() << checked.out;
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

// Though not each scope has a record.
TEST_F(ReportTest, TheNumbersOfAPageAreExact) {
  for (const char* every : {"", "--report-every 128"}) {
    std::filesystem::remove_all(logs());
    Outcome outcome = job(fmt::format("-n 2 {}", every));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::string found = report(), text = page_text();
    EXPECT_TRUE(has(text, "id=\"sampled\""));
    // Host, then scopes that read, write, and do both.
    EXPECT_TRUE(has(text, "<td>20</td><td>14</td><td>4</td>")) << text;
    EXPECT_TRUE(has(text, "<td>20</td><td>6</td><td>4</td>")) << text;
    EXPECT_TRUE(has(text, "<td class=\"t\">lock</td><td>6</td>")) << text;
    EXPECT_TRUE(has(found, "\n1 X no read " + kState + " = 1\n")) << found;
    // No data travel in messages on a host.
    EXPECT_TRUE(has(text, "KiB</td><td>0 B</td><td class=\"m\">0 B</td></tr>")) << text;
  }
}

TEST_F(ReportTest, ANumberOfScopesThatCannotBeIsRefused) {
  for (const char* every : {"0", "129", "-1", "some", "1.5"}) {
    Outcome outcome = job(fmt::format("--report-every {}", every));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(has(outcome.err, fmt::format("--report-every {}: must be a number from 1", every)))
        << outcome.err;
  }
  Outcome alone = launch({kTerrane, "run", "--report-every", "8", REPORT_PROGRAM});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_TRUE(has(alone.err, "there is no --report FOLDER")) << alone.err;
  Outcome variable = job("-x TERRANE_REPORT_EVERY=0");
  EXPECT_NE(variable.exit_code, 0);
  EXPECT_TRUE(has(variable.err, "TERRANE_REPORT_EVERY 0: must be a number from 1")) << variable.err;
}

TEST_F(ReportTest, WithoutTheOptionNothingIsWritten) {
  Outcome outcome = launch({kTerrane, "run", "-n", "2", "--wdir", folder_, REPORT_PROGRAM});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ReportTest, ADeadNodesLogIsReadAsFarAsItGoes) {
  Outcome outcome = job("-n 3 --on-death survive", "dies");
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
  std::filesystem::resize_file(logs() + "/1.events",
                               std::filesystem::file_size(logs() + "/1.events") - 7);
  std::string said, found = report(&said);
  EXPECT_TRUE(has(said, "node 1 did not leave the job in order")) << said;
  EXPECT_TRUE(has(said, "1.events breaks off")) << said;
  EXPECT_TRUE(has(found, "\n1 X open read-write busy = ")) << found;
  EXPECT_TRUE(has(found, "\n0 i node 1 died = 1\n")) << found;
}

TEST_F(ReportTest, WhatIsNoLogIsRefused) {
  EXPECT_TRUE(has(refused(folder_ + "/none"), "No such file"));
  EXPECT_TRUE(has(refused(folder_), "holds no event log"));
  write("0.events", "");
  EXPECT_TRUE(has(refused(folder_), "is empty"));
  write("text", "something else");
  EXPECT_TRUE(has(refused(folder_ + "/text"), "is not an event log"));
  EXPECT_FALSE(std::filesystem::exists(page()));
}

TEST_F(ReportTest, AFolderThatCannotServeIsRefused) {
  ASSERT_EQ(job("-n 2").exit_code, 0);
  Outcome again = job("-n 2");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(has(again.err, "another job's event logs")) << again.err;
  Outcome nowhere = launch({kTerrane, "run", "--report", "/proc/none", REPORT_PROGRAM});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_TRUE(has(nowhere.err, "--report /proc/none")) << nowhere.err;
}

}  // namespace
}  // namespace terrane::cluster_test
