#pragma once

#include <string>

namespace terrane::platform {

// What a command writes to its standard output; empty: nothing, or it cannot be started. What it
// writes to standard error is dropped. `command`: its words, then nullptr; the first one is a path,
// or is looked for in PATH. `variables`: its environment, then nullptr. Waits for its end.
std::string command_output(const char* const* command, char* const* variables);

}  // namespace terrane::platform
