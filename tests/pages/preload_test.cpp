// Programs that load the library by dlopen, which `terrane run` puts in front of the C library.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

Outcome run_loading(const std::vector<std::string>& options, const std::string& mode) {
  std::vector<std::string> command{kTerrane, "run", "-n", "2"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {DLOPEN_PROGRAM, LIBTERRANE, mode});
  return Launched(command).finish();
}

class PreloadTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's library must come first";
#endif
  }
};

// Also where the library comes behind the C library, and binds the program's imports anew.
TEST_F(PreloadTest, ProgramThatLoadsTheLibraryHasItsCallsServed) {
  for (const char* option : {"--preload", "--no-preload"}) {
    for (const char* source : {"uffd-async", "sigsegv"}) {
      Outcome outcome = run_loading({option, "--fault-source", source}, "calls");
      EXPECT_EQ(outcome.exit_code, 0) << option << source << outcome.err;
      EXPECT_EQ(outcome.out, "good\ngood\n") << option << source << outcome.err;
      EXPECT_EQ(outcome.err, "") << option << source;
    }
  }
}

TEST_F(PreloadTest, WhatThePathLeadsToHasIt) {
  base::TestFolder folder;
  std::string script = folder / "script";
  std::ofstream(script) << "#!/usr/bin/env -S " << DLOPEN_PROGRAM << " " << LIBTERRANE
                        << " calls\n";
  ASSERT_EQ(::chmod(script.c_str(), 0700), 0);
  Outcome outcome = Launched({kTerrane, "run", "-n", "2", script}).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "good\ngood\n") << outcome.err;
}

TEST_F(PreloadTest, HandlersOfTheProgramDoNotDisplaceTheLibrarys) {
  for (const char* option : {"--preload", "--no-preload"}) {
    for (const char* source : {"uffd-async", "sigsegv"}) {
      Outcome outcome = run_loading({option, "--fault-source", source}, "handlers");
      EXPECT_EQ(outcome.out, "good\ngood\n") << option << source << outcome.err;
      EXPECT_EQ(outcome.err.find("handled"), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(PreloadTest, HandlersOfTheProgramHearOfItsMistakesOnce) {
  for (const char* option : {"--preload", "--no-preload"}) {
    Outcome outcome = run_loading({option}, "mistake");
    EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV) << option << outcome.err;
    EXPECT_EQ(count(outcome.err, "handled\n"), 1) << option << outcome.err;
  }
}

// Whatever the program is: it runs, and its children have its environment alone.
TEST_F(PreloadTest, ShellsAndTheirChildrenDoNotHaveIt) {
  Outcome outcome = Launched({kTerrane, "run", "sh", "-c", "env; exec env"}).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("PRELOAD"), std::string::npos) << outcome.out;
}

TEST_F(PreloadTest, ChildrenOfAProgramThatIsAskedToHaveItDoNot) {
  Outcome outcome = Launched({kTerrane, "run", "--preload", "sh", "-c", "env"}).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("PRELOAD"), std::string::npos) << outcome.out;
}

TEST_F(PreloadTest, PreloadsOfTheUserStay) {
  Launched::Options options;
  options.environment = {"LD_PRELOAD=libm.so.6"};
  Outcome outcome =
      Launched({kTerrane, "run", "--preload", "sh", "-c", "env"}, std::move(options)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("LD_PRELOAD=libm.so.6\n"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace terrane::cluster_test
