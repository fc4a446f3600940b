#pragma once

#include "base/result.h"
#include "tools/hosts/host_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace terrane::test_hosts {

// Adds the options of `terrane hosts` to a command line, and what its help ends with.
void add_options(CLI::App& app, HostOptions& options);

// Reads what --clusters says; the error is one sentence.
base::Result<> parse_clusters(HostOptions& options);

}  // namespace terrane::test_hosts
