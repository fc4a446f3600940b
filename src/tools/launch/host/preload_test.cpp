#include "tools/launch/host/preload.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace terrane::tools {
namespace {

std::string script_of(const std::string& first_line) {
  std::string path = testing::TempDir() + "preload_unit_test_script";
  std::ofstream(path) << first_line << "\n";
  return path;
}

TEST(PreloadTest, AFileSaysHowItIsLinked) {
  ProgramFile self = read_program("/proc/self/exe", "");
  EXPECT_TRUE(self.is_dynamic);
  EXPECT_FALSE(self.has_terrane);
  EXPECT_TRUE(self.path.ends_with("/launch_test")) << self.path;
  EXPECT_FALSE(read_program("/etc/passwd", "").is_dynamic);
  EXPECT_FALSE(read_program("/none", "").is_dynamic);
}

TEST(PreloadTest, AScriptIsWhatInterpretsIt) {
  ProgramFile shell = read_program(script_of("#!/bin/sh -e"), "");
  EXPECT_TRUE(shell.is_dynamic);
  EXPECT_FALSE(shell.loads);
  EXPECT_EQ(shell.path, read_program("/bin/sh", "").path);
  ProgramFile searched = read_program(script_of("#!/usr/bin/env -i A=b sh"), "/nowhere:/bin");
  EXPECT_EQ(searched.path, shell.path);
  EXPECT_FALSE(read_program(script_of("#!/usr/bin/env none"), "/bin").is_dynamic);
  EXPECT_FALSE(read_program(script_of("#!"), "").is_dynamic);
  std::string itself = testing::TempDir() + "preload_unit_test_script";
  EXPECT_FALSE(read_program(script_of("#!" + itself), "").is_dynamic);
}

TEST(PreloadTest, ProgramsThatMayLoadTheLibraryHaveIt) {
  ProgramFile program{.path = "/bin/python3", .is_dynamic = true, .loads = true};
  EXPECT_TRUE(wants_preload(program, Preload::kAutomatic));
  EXPECT_FALSE(wants_preload(program, Preload::kNever));
  for (bool ProgramFile::*trait :
       {&ProgramFile::has_terrane, &ProgramFile::has_first, &ProgramFile::has_own_path}) {
    ProgramFile other = program;
    other.*trait = true;
    EXPECT_FALSE(wants_preload(other, Preload::kAutomatic));
    EXPECT_EQ(wants_preload(other, Preload::kAlways), trait != &ProgramFile::has_terrane);
  }
  program.loads = false;
  EXPECT_FALSE(wants_preload(program, Preload::kAutomatic));
  EXPECT_TRUE(wants_preload(program, Preload::kAlways));
  program.is_dynamic = false;
  EXPECT_FALSE(wants_preload(program, Preload::kAlways));
}

}  // namespace
}  // namespace terrane::tools
