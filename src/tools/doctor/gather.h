#pragma once

#include "tools/doctor/facts.h"

namespace terrane::tools {

// The parts of gather_facts().
InstallationFacts gather_installation();
KernelFacts gather_kernel();
ProcessorFacts gather_processors();
MemoryFacts gather_memory();
LimitFacts gather_limits();
std::vector<InterfaceFacts> gather_interfaces();
// Loads UCX and PMIx, if they are there, to ask for their versions.
SoftwareFacts gather_software();

// Of an installation whose command is `command`, the path of a file.
InstallationFacts installation_of(const std::string& command);
// The first executable file of this name in the folders of PATH; empty: none.
std::string in_path(const char* program);

}  // namespace terrane::tools
