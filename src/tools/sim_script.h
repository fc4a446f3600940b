#pragma once

#include <string>

namespace terrane::tools {

// Runs the script of `terrane sim --script` and prints how it differs from what it expects; update:
// writes the trace that was found into the file; trace: prints all steps. The exit code: 0, 1 where
// something differs or breaks a rule, 2 where the file is no script.
int run_script(const std::string& path, bool update, bool trace);

}  // namespace terrane::tools
