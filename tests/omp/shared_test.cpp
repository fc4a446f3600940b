// Pages that nodes share, as terrane omp --check=sharing reports them.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = SHARED_PROGRAM;

Outcome run_checked(const std::string& team, const std::string& what) {
  Outcome outcome = run_omp(team + " --check=sharing --check-fails", kProgram + " " + what);
  EXPECT_EQ(count(outcome.out, "good"), 1) << team << ": " << outcome.out << outcome.err;
  return outcome;
}

TEST(OmpSharedTest, CountersOfOnePageAreFalseSharing) {
  Outcome outcome = run_checked("-n 2 --threads 1", "counters");
  EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
  EXPECT_NE(outcome.err.find("false sharing: node 0 writes counters, bytes 0 to 1; node 1 writes "
                             "counters, bytes 4 to 5"),
            std::string::npos)
      << outcome.err;
}

TEST(OmpSharedTest, CountersOfPagesOfTheirOwnAreNot) {
  for (const char* team : {"-n 2 --threads 1", "-n 3 --threads 1"}) {
    Outcome outcome = run_checked(team, "padded");
    EXPECT_EQ(outcome.exit_code, 0) << team << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("false sharing: "), std::string::npos) << team << outcome.err;
  }
}

// The page that terrane report makes of --report.
TEST(OmpSharedTest, APageHasRegionsByTheirLines) {
  base::TestFolder folder;
  std::string logs = folder / "logs", page = folder / "page.html";
  expect_good("-n 2 --threads 1 --report " + logs, kProgram + " counters");
  Outcome made = Launched({cluster_test::kTerrane, "report", logs, "-o", page}).finish();
  EXPECT_EQ(made.exit_code, 0) << made.err;
  std::ifstream file(page);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("</span>shared_program.c:"), std::string::npos) << text;
  EXPECT_NE(text.find("</td><td>2000</td>"), std::string::npos) << text;
  EXPECT_NE(text.find("<span>regions</span>"), std::string::npos) << text;
  EXPECT_NE(text.find("<b>false sharing</b>: node 0 writes counters"), std::string::npos) << text;
}

}  // namespace
}  // namespace terrane::test_hosts
