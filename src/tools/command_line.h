#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace terrane::tools {

// The long options of a command, with their hyphens.
std::vector<std::string> option_names(const CLI::App& command);

// Takes out of `words` what belongs to the program to be started: everything from the first word
// (at or after `first`) that is neither an option of `command` nor an option's value. What stays is
// in the one form that CLI11 cannot misread, "--option=value"; "-np" of other launchers is
// understood. `name` is what the user typed for the command. Fails on an option that it lacks.
base::Result<std::vector<std::string>> separate_program(const CLI::App& command,
                                                        const std::string& name,
                                                        std::vector<std::string>& words,
                                                        std::size_t first);

}  // namespace terrane::tools
