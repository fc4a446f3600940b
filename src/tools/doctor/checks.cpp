#include "tools/doctor/checks.h"

#include <algorithm>

namespace terrane::tools {

Findings examine(const HostFacts& facts) {
  Findings all;
  check_installation(facts.installation, all);
  check_page_faults(facts.kernel, all);
  check_kernel(facts.kernel, all);
  check_processors(facts.processors, all);
  check_memory(facts.memory, all);
  check_limits(facts.limits, all);
  check_network(facts, all);
  check_software(facts.software, all);
  return all;
}

bool healthy(const Findings& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.level == Level::kProblem; });
}

}  // namespace terrane::tools
