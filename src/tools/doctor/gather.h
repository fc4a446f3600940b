#pragma once

#include "tools/doctor/facts.h"

namespace terrane::tools {

// The parts of gather_facts().
KernelFacts gather_kernel();
ProcessorFacts gather_processors();
MemoryFacts gather_memory();
LimitFacts gather_limits();
std::vector<InterfaceFacts> gather_interfaces();
// Loads UCX and PMIx, if they are there, to ask for their versions.
SoftwareFacts gather_software();

}  // namespace terrane::tools
