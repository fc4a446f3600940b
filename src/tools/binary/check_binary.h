#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/binary/locked_code.h"

namespace terrane::tools {

// The functions of an x86-64 executable that hold locked instructions, by `objdump -d` of binutils.
// Libraries that it loads are not looked at. Error: it is no such file, or objdump is missing or
// fails.
base::Result<std::vector<LockedFunction>> locked_functions(
    const std::string& path, SharedScope scope = SharedScope::kRegions);

// What the user reads of them: each function in a line, and what to do. Empty for none.
std::vector<std::string> describe(const std::string& path,
                                  const std::vector<LockedFunction>& functions,
                                  SharedScope scope = SharedScope::kRegions);

// The same of a library of the program, in one sentence. Empty for none.
std::string describe_library(const std::string& path, const std::vector<LockedFunction>& functions);

}  // namespace terrane::tools
