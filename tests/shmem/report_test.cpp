// The page of jobs with OpenSHMEM (--report, terrane report).
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "driver.h"

namespace terrane::cluster_test {
namespace {

class ShmemReportTest : public testing::Test {
 protected:
  Outcome job(int pes, const std::string& mode) {
    Outcome outcome = Launched(words(fmt::format("{} run -n {} --report {} {} {}", kTerrane, pes,
                                                 logs(), SHMEM_PROGRAM, mode)))
                          .finish();
    EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
    return outcome;
  }
  void expect_good(int pes, const std::string& mode) {
    Outcome outcome = job(pes, mode);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), pes) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  // The page, checked, and the trace with it.
  std::string report(std::string* said = nullptr, std::string* events = nullptr) {
    std::string page = folder_ + "/page.html", trace = folder_ + "/trace.json";
    Outcome made = Launched({kTerrane, "report", logs(), "-o", page, "--perfetto", trace}).finish();
    EXPECT_EQ(made.exit_code, 0) << made.err;
    if (said != nullptr) *said = made.err;
    Outcome checked = Launched({"python3", CHECK_REPORT, page, trace}).finish();
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    if (events != nullptr) *events = checked.out;
    std::ifstream file(page);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
  // "report_program.cpp:LINE" of the line that ends in `comment`.
  static std::string line_of(const std::string& comment) {
    std::ifstream file(REPORT_SOURCE);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number)
      if (line.ends_with(comment)) return fmt::format("report_program.cpp:{}", number);
    return "no such line";
  }
  std::string logs() const { return folder_ + "/logs"; }

  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

TEST_F(ShmemReportTest, WaitsHaveTheLineOfTheirCall) {
  expect_good(3, "waits");
  std::string events, text = report(nullptr, &events);
  std::string flag = "shmem_long_wait_until at " + line_of("// for the flag");
  std::string late = "shmem_barrier_all at " + line_of("// for the late one");
  expect_has(text, "<table id=\"places\">");
  expect_has(text, "<tr><td>" + flag + "</td>");
  expect_has(text, "<tr><td>shmem_long_wait_until</td><td class=\"t\">wait</td><td>20</td>");
  expect_has(text, "<tr><td>" + late + "</td>");
  expect_has(text, "They waited longest in " + late + ": ");
  expect_has(text, "PE 1 computed ");
  expect_has(text, "<tr><td>shmem_barrier_all</td><td class=\"t\">collective</td><td>30</td>");
  expect_has(text, "<tr><td>shmem_set_lock</td><td class=\"t\">wait</td><td>30</td>");
  for (int pe = 0; pe < 3; ++pe) expect_has(text, fmt::format("<span>PE {}</span>", pe));
  expect_has(events, "X " + flag + " = ");
  EXPECT_EQ(text.find("<table id=\"moved\">"), std::string::npos) << "one host";
}

TEST_F(ShmemReportTest, EachThreadHasAStrip) {
  expect_good(2, "threads");
  std::string text = report();
  expect_has(text, "<span>PE 1 thread 1</span>");
  expect_has(text, "<tr><td>shmem_long_wait_until</td><td class=\"t\">wait</td><td>2</td>");
}

TEST_F(ShmemReportTest, ShortCallsAreCountedAndTheLogStaysSmall) {
  expect_good(2, "short");
  expect_has(report(),
             "<tr><td>shmem_barrier_all</td><td class=\"t\">collective</td>"
             "<td>40000</td>");
  EXPECT_LT(std::filesystem::file_size(logs() + "/0.shmem.events"), 200'000u);
}

TEST_F(ShmemReportTest, AKilledJobIsReadAsFarAsItGoes) {
  EXPECT_EQ(job(2, "dies").exit_code, 128 + SIGKILL);
  std::string said, text = report(&said);
  expect_has(said, "did not leave the job in order: its log reads up to ");
  expect_has(text, "<span>PE 1</span>");
  expect_has(text, "a place without a name");
}

TEST_F(ShmemReportTest, TheLogEndsWithTheFirstEnd) {
  expect_good(2, "again");
  expect_has(report(), "<tr><td>shmem_barrier_all</td><td class=\"t\">collective</td><td>20</td>");
}

TEST_F(ShmemReportTest, AStrippedProgramHasOffsetsAndAHint) {
  std::string stripped = folder_ + "/program";
  Outcome made = Launched({"strip", "-o", stripped, SHMEM_PROGRAM}).finish();
  if (made.exit_code != 0) GTEST_SKIP() << "strip(1) is not here: " << made.err;
  Outcome outcome =
      Launched(words(fmt::format("{} run -n 2 --report {} {} waits", kTerrane, logs(), stripped)))
          .finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::string text = report();
  expect_has(text, "shmem_barrier_all at program+0x");
  expect_has(text, "compile with -g, do not strip it");
}

}  // namespace
}  // namespace terrane::cluster_test
