#pragma once

#include <string>

#include "base/result.h"

namespace terrane::tools {

// Where the program's file is; or the exit code (126: cannot be executed, 127: not found) with the
// reason in `error`.
struct ProgramLookup {
  std::string path;
  int exit_code = 0;
  base::Error error;
};

// Looks the program up as a shell does: a name with a slash is a path, any other is searched in
// `search_path` (the value of PATH).
ProgramLookup find_program(const std::string& name, const std::string& search_path);

}  // namespace terrane::tools
