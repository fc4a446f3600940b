#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace terrane::tools {

constexpr const char* kDebugger = "gdb";

// The debugger's command for a node that waits for it before it executes its program, in words: it
// then is at the program's first instruction. With the installation's commands for shared memory
// (share/terrane/gdb.py), if they are there.
std::vector<std::string> debugger_words(pid_t pid);

// Words as a shell would have to be given them, in one line.
std::string in_shell_words(std::span<const std::string> words);

}  // namespace terrane::tools
