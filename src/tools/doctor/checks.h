#pragma once

#include "tools/doctor/facts.h"
#include "tools/doctor/finding.h"

namespace terrane::tools {

// Each judges some of the facts, and appends at least one finding. Pure: the same facts give the
// same findings.
void check_installation(const InstallationFacts& installation, Findings& out);
void check_page_faults(const KernelFacts& kernel, Findings& out);
void check_kernel(const KernelFacts& kernel, Findings& out);
void check_processors(const ProcessorFacts& processors, Findings& out);
void check_memory(const MemoryFacts& memory, Findings& out);
void check_limits(const LimitFacts& limits, Findings& out);
void check_network(const HostFacts& facts, Findings& out);
void check_software(const SoftwareFacts& software, Findings& out);

// All of them, in the order in which a person reads them.
Findings examine(const HostFacts& facts);
// Whether a job can run: there is no problem.
bool healthy(const Findings& findings);

}  // namespace terrane::tools
