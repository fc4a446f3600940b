#pragma once

#include "tools/hosts/host_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace terrane::test_hosts {

// Adds the options of `terrane hosts` to a command line, and what its help ends with.
void add_options(CLI::App& app, HostOptions& options);

}  // namespace terrane::test_hosts
