#include "tools/binary/program_libraries.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

TEST(ProgramLibrariesTest, PathsOfTheProgramsLibrariesAloneAreRead) {
  std::vector<std::string> paths = paths_in_list(
      "\tlinux-vdso.so.1 (0x00007ffd3a5f2000)\n"
      "\tlibtbb.so.12 => /lib/x86_64-linux-gnu/libtbb.so.12 (0x00007f2f7a200000)\n"
      "\tlibgone.so.1 => not found\n"
      "\t./libown.so (0x00007f2f7a1f0000)\n"
      "\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f2f79e00000)\n"
      "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2f79c1f000)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2f7a2c0000)\n");
  EXPECT_EQ(paths, (std::vector<std::string>{"/lib/x86_64-linux-gnu/libtbb.so.12", "./libown.so"}));
}

TEST(ProgramLibrariesTest, AFileThatIsNoProgramHasNone) {
  EXPECT_TRUE(program_libraries("/etc/passwd").empty());
}

}  // namespace
}  // namespace terrane::tools
