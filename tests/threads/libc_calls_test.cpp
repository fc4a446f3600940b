// Calls about what another node has made or keeps are served, or end with their names.
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kCalls = LIBC_CALLS_PROGRAM;

Outcome run_threads(const std::string& options, const std::string& what) {
  base::TestFolder folder;
  std::string line = std::string(cluster_test::kTerrane) + " threads " + options + " " + kCalls +
                     " " + what + " " + folder.path();
  Launched job(cluster_test::words(line), {});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

void expect_good(const std::string& what) {
  for (const char* options :
       {"-n 1", "-n 2 --placement 1", "-n 3", "-n 2 --placement 1 --fault-source sigsegv"}) {
    Outcome outcome = run_threads(options, what);
    EXPECT_EQ(outcome.exit_code, 0) << what << " " << options << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "good\n") << what << " " << options << ": " << outcome.err;
  }
}

TEST(LibcCallsTest, StreamsOfOtherNodesAreServed) { expect_good("streams"); }
TEST(LibcCallsTest, FoldersOfOtherNodesAreServed) { expect_good("folders"); }
TEST(LibcCallsTest, FormsFor64BitOffsetsAreServed) { expect_good("offsets"); }
TEST(LibcCallsTest, SettingsOfTheCLibraryHoldOnAllNodes) { expect_good("settings"); }
TEST(LibcCallsTest, AnswersReachSharedMemory) { expect_good("answers"); }
TEST(LibcCallsTest, OptionsGoOnInOtherThreads) { expect_good("options"); }
TEST(LibcCallsTest, TimesNameTheirZoneToAllThreads) { expect_good("times"); }
TEST(LibcCallsTest, ProgramsAreStartedWithWhatIsShared) { expect_good("programs"); }
TEST(LibcCallsTest, WhatTheLoaderTellsIsSeenByAllThreads) { expect_good("loader"); }
TEST(LibcCallsTest, FunctionsOfLaterVersionsAreThere) { expect_good("later"); }

TEST(LibcCallsTest, DescriptorsOfFurtherCallsAreServedOrRefused) {
  Outcome outcome = run_threads("-n 2 --placement 1", "descriptors");
  EXPECT_EQ(outcome.out, "good\n") << outcome.err;
  EXPECT_NE(outcome.err.find("process_mrelease: descriptor"), std::string::npos) << outcome.err;
}

TEST(LibcCallsTest, WhatBelongsToItsNodeEndsWithTheName) {
  Outcome outcome = run_threads("-n 2 --placement 1", "tree");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("fts_read: it is used on another node"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
