// What the C library allocates or keeps for its caller is seen, and freed, by threads of all nodes.
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kResults = LIBC_MEMORY_RESULTS, kMemory = LIBC_MEMORY_PROGRAM;

void expect_good_everywhere(const std::string& program) {
  for (const char* options :
       {"-n 1", "-n 2 --placement 1", "-n 3", "-n 2 --placement 1 --fault-source uffd-sync",
        "-n 2 --placement 1 --fault-source sigsegv"}) {
    std::string line = std::string(cluster_test::kTerrane) + " threads " + options + " " + program;
    Launched job(cluster_test::words(line), {});
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << line << " hangs";
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "good\n") << line;
    EXPECT_EQ(outcome.err, "") << line;
  }
}

std::string with_files(const std::string& mode) {
  static const base::TestFolder folder;
  return kResults + " " + mode + " " + folder.path();
}

TEST(LibcMemoryTest, ResultsOfTheProcessAreSeenByAllThreads) {
  expect_good_everywhere(with_files("results"));
}

TEST(LibcMemoryTest, ResultsOfAThreadAreSeenByAllThreads) {
  expect_good_everywhere(with_files("of_threads"));
}

TEST(LibcMemoryTest, EntriesComeOneByOneInAllThreads) {
  expect_good_everywhere(with_files("entries"));
}

TEST(LibcMemoryTest, TextsAreSeenByAllThreads) { expect_good_everywhere(with_files("texts")); }

TEST(LibcMemoryTest, MemoryForTheCallerIsShared) { expect_good_everywhere(kMemory + " memory"); }

TEST(LibcMemoryTest, LaterCallsGoOnInOtherThreads) { expect_good_everywhere(kMemory + " later"); }

TEST(LibcMemoryTest, LocalesAndConversionsAreOfAllThreads) {
  expect_good_everywhere(LIBC_MEMORY_LOCALES);
}

}  // namespace
}  // namespace terrane::test_hosts
