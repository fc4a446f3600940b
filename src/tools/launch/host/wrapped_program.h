#pragma once

#include <string>
#include <vector>

#include "tools/launch/host/program.h"

namespace terrane::tools {

// The program that a command line starts in the end, behind commands such as env(1), taskset(1) and
// timeout(1), which execute another one: that is the one whose threads run on all nodes. Its path,
// looked up in `search_path`; the first word's own where that is none of these commands. A sentence
// about a command that hides the program from the launcher, such as time(1) or `env -i`: it goes in
// front of `terrane` (exit code 2).
ProgramLookup program_behind(const std::vector<std::string>& words, const std::string& search_path);

}  // namespace terrane::tools
