#include "tools/doctor/gather.h"

#include "bootstrap/this_host.h"

namespace terrane::tools {

HostFacts gather_facts() {
  HostFacts facts;
  facts.host = bootstrap::this_hosts_name();
  facts.kernel = gather_kernel();
  facts.processors = gather_processors();
  facts.memory = gather_memory();
  facts.limits = gather_limits();
  facts.interfaces = gather_interfaces();
  facts.software = gather_software();
  return facts;
}

}  // namespace terrane::tools
