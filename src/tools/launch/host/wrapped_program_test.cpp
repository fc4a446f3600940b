#include "tools/launch/host/wrapped_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace terrane::tools {
namespace {

constexpr const char* kPath = "/usr/bin:/bin";

std::string behind(const std::vector<std::string>& words) {
  ProgramLookup found = program_behind(words, kPath);
  return found.exit_code == 0 ? found.path.substr(found.path.rfind('/') + 1) : found.error.message;
}

TEST(WrappedProgramTest, AProgramIsItself) { EXPECT_EQ(behind({"/bin/ls", "cat"}), "ls"); }

TEST(WrappedProgramTest, TheProgramIsBehindItsWrappers) {
  EXPECT_EQ(behind({"env", "A=1", "-u", "NOTHING", "ls", "cat"}), "ls");
  EXPECT_EQ(behind({"/usr/bin/env", "nice", "-n", "3", "timeout", "-s", "INT", "5", "ls"}), "ls");
  EXPECT_EQ(behind({"stdbuf", "-oL", "taskset", "-c", "0", "ls", "-l"}), "ls");
}

TEST(WrappedProgramTest, WhatHidesTheProgramGoesInFront) {
  EXPECT_NE(behind({"time", "-p", "ls"}).find("in front: time -p terrane"), std::string::npos);
  EXPECT_NE(behind({"env", "-i", "ls"}).find("in front: env -i terrane"), std::string::npos);
  if (::access("/usr/bin/strace", X_OK) == 0) {
    EXPECT_NE(behind({"nice", "strace", "-f", "ls"}).find("strace -f terrane"), std::string::npos);
  }
}

TEST(WrappedProgramTest, AWrapperAloneIsRefused) {
  EXPECT_EQ(behind({"env", "A=1"}), "env has no program behind it that can be found");
  EXPECT_EQ(program_behind({"env", "nosuchprogram"}, kPath).exit_code, 127);
}

}  // namespace
}  // namespace terrane::tools
