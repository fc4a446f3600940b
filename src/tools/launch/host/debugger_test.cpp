#include "tools/launch/host/debugger.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

TEST(DebuggerTest, TheCommandIsFitForAShell) {
  EXPECT_EQ(in_shell_words(debugger_words(42)), "gdb -q -p 42 -ex 'tcatch exec' -ex continue");
}

TEST(DebuggerTest, WordsKeepWhatAShellWouldChange) {
  const std::vector<std::string> words = {"a", "", "b c", "d'e", "$f", "--g=h/i"};
  EXPECT_EQ(in_shell_words(words), "a '' 'b c' 'd'\\''e' '$f' --g=h/i");
}

}  // namespace
}  // namespace terrane::tools
