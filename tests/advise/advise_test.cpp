// What `terrane advise` says of programs with a known fault, and of what it cannot forecast.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

Outcome advise(const std::string& words_, const Launched::Options& options = {}) {
  Outcome outcome = Launched(words(std::string(kTerrane) + " advise " + words_), options).finish();
  EXPECT_FALSE(outcome.timed_out) << words_ << " hangs";
  return outcome;
}

Outcome advise_input(const std::string& words_, const std::string& input) {
  std::string line = "echo " + input + " | " + kTerrane + " advise " + words_;
  return Launched({"sh", "-c", line}).finish();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

double number_after(const std::string& text, const std::string& key) {
  std::size_t at = text.rfind(key);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + key.size()));
}

TEST(AdviseTest, FalseSharingIsNamed) {
  Outcome said = advise("-n 3 " SHARED_PROGRAM " counters");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "good\n")) << said.out;
  EXPECT_TRUE(std::regex_search(
      said.out, std::regex("counters[^\n]*\n    2 nodes write different bytes of one page")))
      << said.out;
  EXPECT_TRUE(has(said.out, "alignas(4096)")) << said.out;
}

TEST(AdviseTest, ALockThatTravelsIsNamed) {
  Outcome said = advise("-n 3 " SHARED_PROGRAM " lock");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "the lock hot_lock: ")) << said.out;
  EXPECT_TRUE(has(said.out, "comes from another node in ")) << said.out;
}

TEST(AdviseTest, AMasterThatFillsAllIsNamedWithTheLineOfItsData) {
  Outcome said = advise("-n 3 " SHARED_PROGRAM " master");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "shared_program.c:")) << said.out;
  EXPECT_TRUE(has(said.out, "node 0 writes it")) << said.out;
  EXPECT_TRUE(has(said.out, "let each thread fill the data")) << said.out;
}

TEST(AdviseTest, MoreNodesHelpAProgramThatComputes) {
  Outcome said = advise_input("-n 4 --json " ADVISED_PROGRAM, "40");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.err, "sum ")) << said.err;  // what the program says
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 1) << said.out;
  EXPECT_TRUE(has(said.out, "{\"nodes\": 1, ")) << said.out;
  EXPECT_TRUE(has(said.out, "{\"nodes\": 4, ")) << said.out;
  EXPECT_GT(number_after(said.out, "\"speedup\": "), 1.5) << said.out;
}

// Somebody may yet write to a FIFO that this process has open.
TEST(AdviseTest, BothRunsReadAnInputThatDoesNotEnd) {
  base::TestFolder folder;
  std::string fifo = folder / "fifo", line = std::string(kTerrane) + " advise -n 2 --json ";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(std::fopen(fifo.c_str(), "r+"),
                                                       &std::fclose);
  std::fputs("3\n", open.get());
  std::fflush(open.get());
  for (const char* program : {ADVISED_PROGRAM, SHARED_PROGRAM " lock"}) {
    Outcome said = Launched({"sh", "-c", line + program + " <" + fifo}).finish();
    EXPECT_EQ(said.exit_code, 0) << said.err;
    EXPECT_FALSE(said.timed_out) << program << " hangs";
    EXPECT_TRUE(has(said.out, "{\"nodes\": 2, ")) << said.out;
  }
}

TEST(AdviseTest, BothRunsReadAFileFromWhereItIs) {
  base::TestFolder folder;
  std::ofstream(folder / "numbers") << "first\n3\n";
  std::string line = std::string("{ read first; ") + kTerrane + " advise -n 2 --json " +
                     ADVISED_PROGRAM + "; } <" + (folder / "numbers");
  Outcome said = Launched({"sh", "-c", line}).finish();
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "{\"nodes\": 2, ")) << said.out;
}

TEST(AdviseTest, ARecordingThatWasKeptAnswersMoreQuestions) {
  base::TestFolder folder;
  Outcome said = advise_input("-n 4 --keep " + folder.path() + " " ADVISED_PROGRAM, "40");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  Outcome twice = advise("--keep " + folder.path() + " " ADVISED_PROGRAM);
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(has(twice.err, "a recording is there")) << twice.err;
  std::string again = "--json --recorded " + folder.path();
  Outcome near = advise(again + " --round-trip 10"), far = advise(again + " --round-trip 100000");
  ASSERT_EQ(near.exit_code, 0) << near.err;
  double fast = number_after(near.out, "\"seconds\": "),
         slow = number_after(far.out, "\"seconds\": ");
  EXPECT_GT(slow, fast + 4) << near.out << far.out;  // forty barriers and more
  Outcome tight = advise("--recorded " + folder.path() + " --memory 1M");
  EXPECT_TRUE(has(tight.out, "1.0 MiB a node is too little")) << tight.out;
}

// Where each maps the memory of all others, beside what has addresses of its own.
TEST(AdviseTest, SixtyFourNodesHaveOne) {
  Outcome said = advise_input("-n 64 --json " ADVISED_PROGRAM, "1");
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "{\"nodes\": 64, ")) << said.out;
}

TEST(AdviseTest, ProgramsWithPagesHaveOne) {
  Outcome said = advise("-n 2 " PAGES_PROGRAM " counters");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "counters")) << said.out;
}

TEST(AdviseTest, AStrippedProgramHasAddresses) {
  base::TestFolder folder;
  std::string stripped = folder / "program";
  Outcome made = Launched({"strip", "-o", stripped, SHARED_PROGRAM}).finish();
  if (made.exit_code != 0) GTEST_SKIP() << "strip(1) is not here: " << made.err;
  Outcome said = advise("-n 2 " + stripped + " lock");
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "the mutex at 0x")) << said.out;
}

TEST(AdviseTest, WhatCannotBeForecastIsSaid) {
  Outcome none = advise("/none/such");
  EXPECT_EQ(none.exit_code, 127);
  EXPECT_TRUE(has(none.err, "/none/such")) << none.err;
  EXPECT_EQ(advise("").exit_code, 2);
  Outcome fails = advise_input("-n 2 " ADVISED_PROGRAM " 7", "1");
  EXPECT_EQ(fails.exit_code, 7);
  EXPECT_TRUE(has(fails.err, "ended with exit code 7, so there is no forecast")) << fails.err;
  Outcome no_pages = advise("-n 2 --as run /bin/true");
  EXPECT_EQ(no_pages.exit_code, 1);
  EXPECT_TRUE(has(no_pages.err, "uses no shared pages")) << no_pages.err;
  Outcome nothing = advise("--recorded /none/such");
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_TRUE(has(nothing.err, "/none/such")) << nothing.err;
  Outcome one = advise("-n 1 " SHARED_PROGRAM " lock");
  EXPECT_EQ(one.exit_code, 2);
}

TEST(AdviseTest, ARecordingThatIsDamagedIsRefused) {
  base::TestFolder folder;
  Outcome said = advise_input("-n 2 --keep " + folder.path() + " " ADVISED_PROGRAM, "2");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  std::filesystem::remove(folder / "recorded/1.record");
  Outcome missing = advise("--recorded " + folder.path());
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(has(missing.err, "recorded/1.record cannot be read")) << missing.err;
  std::ofstream(folder / "recorded/1.record") << "something else, which is longer than a head is";
  Outcome other = advise("--recorded " + folder.path());
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(has(other.err, "is no recording of node 1 of this job")) << other.err;
}

}  // namespace
}  // namespace terrane::cluster_test
