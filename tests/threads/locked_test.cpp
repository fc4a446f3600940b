// Programs as a distribution ships them, compiled without a flag for Terrane: their locked
// instructions are served where they are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = LOCKED_PROGRAM, kLibrary = LOCKED_LIBRARY;
constexpr const char* kSetUps[] = {"-n 1",
                                   "-n 2 --placement 1",
                                   "-n 3 --placement cyclic",
                                   "-n 2 --placement 1 --atomics=trap",
                                   "-n 2 --placement 2 --fault-source uffd-sync",
                                   "-n 2 --placement 1 --fault-source sigsegv --atomics=trap",
                                   "-n 2 --placement 1 --transport ucx"};

TEST(LockedTest, ProgramsOfAnyCompilerLoseNoUpdate) {
  for (const char* options : kSetUps) expect_good(options, kProgram);
}

TEST(LockedTest, SigtrapStaysThePrograms) {
  for (const char* way : {"patch", "trap"})
    expect_good(std::string("-n 2 --placement 1 --atomics=") + way, kProgram + " trap");
}

TEST(LockedTest, LibrariesThatAreOpenedLaterAreServed) {
  for (const char* way : {"patch", "trap"})
    expect_good(std::string("-n 2 --placement 1 --atomics=") + way,
                kProgram + " library " + kLibrary);
}

// Bytes between functions are data unless a jump leads there: then they may be any instruction.
TEST(LockedTest, ATableAmongCodeIsRefusedWhereAJumpLeadsThere) {
  expect_good("-n 2 --placement 1", kProgram + " library " + TABLE_LIBRARY);
  Outcome outcome = finish(threads("-n 2 --placement 1", kProgram + " library " + ENTERED_LIBRARY));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "has data among its code"), 1) << outcome.err;
}

// Their pages stay as they are, but for that of an instruction on 16 bytes.
TEST(LockedTest, RelaxedOnesAreDoneInTheHomesOfTheirWords) {
  for (const char* nodes :
       {"-n 1", "-n 2 --placement 1", "-n 3 --placement cyclic",
        "-n 2 --placement 1 --fault-source sigsegv", "-n 2 --placement 2 --fault-source uffd-sync",
        "-n 2 --placement 1 --transport ucx"})
    expect_good(std::string(nodes) + " --atomics=relaxed", kProgram + " counts");
  auto served = [](const std::string& way) {
    std::string options = "-n 2 --placement 1 --stats --atomics=" + way;
    Outcome outcome = finish(threads(options, kProgram + " counts"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return count(outcome.err, "::words (an atomic operation)");
  };
  EXPECT_GT(served("patch"), 0);
  EXPECT_EQ(served("relaxed"), 0);
}

// What is appended to a program makes its file a large one. A plan of other bytes is damaged.
TEST(LockedTest, PlansOfLargeFilesAreKept) {
  base::TestFolder folder;
  std::string program = folder / "program", plans = folder / "plans";
  std::filesystem::copy_file(kProgram, program);
  std::filesystem::resize_file(program, 4 << 20);
  for (int run = 0; run < 3; ++run) {
    SCOPED_TRACE(run);
    expect_good("-n 2 --placement 1 -x TERRANE_CACHE=" + plans, program);
    ASSERT_TRUE(std::filesystem::exists(plans));
    EXPECT_FALSE(std::filesystem::is_empty(plans));
    if (run == 0) continue;
    for (const auto& kept : std::filesystem::directory_iterator(plans))
      std::ofstream(kept.path(), std::ios::in | std::ios::out | std::ios::ate) << "more";
  }
  expect_good("-n 2 --placement 1 -x TERRANE_CACHE=" + program + "/none", program);
}

TEST(LockedTest, AWayThatIsNoneIsRefused) {
  Outcome outcome = finish(threads("-n 2 --atomics=never", kProgram));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "must be patch, relaxed, trap or refuse"), 1) << outcome.err;
}

using LockedOnHosts = GoodOnHosts;

TEST_F(LockedOnHosts, ProgramsOfAnyCompilerLoseNoUpdate) { expect_good_on_hosts(kProgram); }

}  // namespace
}  // namespace terrane::test_hosts
