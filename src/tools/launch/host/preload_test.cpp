#include "tools/launch/host/preload.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/test_folder.h"

namespace terrane::tools {
namespace {

const std::string& folder() {
  static const base::TestFolder of_process;
  return of_process.path();
}

std::string script_of(const std::string& first_line) {
  std::string path = folder() + "/script";
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

// A program with one note: a name, and a descriptor of four bytes.
std::string program_with_note(const char* name, std::uint32_t bytes) {
  struct {
    Elf64_Ehdr head = {};
    Elf64_Phdr part = {};
    Elf64_Nhdr note = {};
    char name[4] = {}, descriptor[4] = {};
  } file;
  std::memcpy(file.head.e_ident, ELFMAG, SELFMAG);
  file.head.e_ident[EI_CLASS] = ELFCLASS64;
  file.head.e_phoff = sizeof file.head;
  file.head.e_phentsize = sizeof file.part;
  file.head.e_phnum = 1;
  file.part.p_type = PT_NOTE;
  file.part.p_offset = sizeof file.head + sizeof file.part;
  file.part.p_filesz = sizeof file.note + sizeof file.name + sizeof file.descriptor;
  file.note.n_namesz = bytes;
  file.note.n_descsz = sizeof file.descriptor;
  std::memcpy(file.name, name, std::min(std::strlen(name) + 1, sizeof file.name));
  std::string path = folder() + "/program";
  std::ofstream(path).write(reinterpret_cast<const char*>(&file), sizeof file);
  return path;
}

TEST(PreloadTest, AProgramOfGoSaysSoInANote) {
  EXPECT_EQ(read_program(program_with_note("Go", 3), "").run_time, "Go");
  EXPECT_EQ(read_program(program_with_note("GNU", 4), "").run_time, "");
  EXPECT_EQ(read_program(program_with_note("Gox", 4000), "").run_time, "") << "it ends too early";
}

// A program whose table of symbols has one name.
std::string program_with_symbol(std::string_view name) {
  struct {
    Elf64_Ehdr head = {};
    Elf64_Shdr sections[2] = {};
    char names[64] = {};
  } file;
  std::memcpy(file.head.e_ident, ELFMAG, SELFMAG);
  file.head.e_ident[EI_CLASS] = ELFCLASS64;
  file.head.e_phentsize = sizeof(Elf64_Phdr);
  file.head.e_shoff = sizeof file.head;
  file.head.e_shentsize = sizeof(Elf64_Shdr);
  file.head.e_shnum = 2;
  file.sections[0].sh_type = SHT_SYMTAB;
  file.sections[0].sh_link = 1;
  file.sections[1].sh_offset = sizeof file.head + sizeof file.sections;
  file.sections[1].sh_size = sizeof file.names;
  name.copy(file.names + 1, sizeof file.names - 2);
  std::string path = folder() + "/symbols";
  std::ofstream(path).write(reinterpret_cast<const char*>(&file), sizeof file);
  return path;
}

TEST(PreloadTest, AProgramWithAnOpenMpLibraryInItIsKnownByItsSymbols) {
  EXPECT_EQ(read_program(program_with_symbol("gomp_team_start"), "").own_openmp, "gcc's");
  EXPECT_EQ(read_program(program_with_symbol("__kmp_fork_call"), "").own_openmp, "LLVM's");
  EXPECT_EQ(read_program(program_with_symbol("my_gomp_team_start"), "").own_openmp, "");
  EXPECT_EQ(read_program("/proc/self/exe", "").own_openmp, "");
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
  std::string itself = folder() + "/script";
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
