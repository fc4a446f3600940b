#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace terrane::tools {

// The paths of the libraries that the loader would load for a program (DT_NEEDED), as the program's
// own loader lists them under this process's environment; without those that each node has for
// itself (platform/module_owners.h). Empty: it needs none, or is not linked dynamically. What is
// not found is left out.
std::vector<std::string> program_libraries(const std::string& path);

// The paths in such a list.
std::vector<std::string> paths_in_list(std::string_view list);

}  // namespace terrane::tools
