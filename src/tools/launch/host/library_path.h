#pragma once

#include <string>

#include "tools/launch/host/preload.h"

namespace terrane::tools {

// LD_LIBRARY_PATH of a node: `now`, and behind it `folder`, the library folder of this
// installation, unless the program finds Terrane's libraries already (by its own path, or by
// `now`). A program that is not linked with Terrane gets the folder, too: it may be a script that
// starts one.
std::string library_path(const ProgramFile& program, const std::string& now,
                         const std::string& folder);

// The library folder of the installation that this command belongs to. Empty: it is not installed.
std::string installed_library_folder();

}  // namespace terrane::tools
