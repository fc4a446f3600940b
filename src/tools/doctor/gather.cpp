#include "tools/doctor/gather.h"

#include <cstdlib>

#include "bootstrap/this_host.h"
#include "transport/ucx/interfaces.h"

namespace terrane::tools {

HostFacts gather_facts() {
  HostFacts facts;
  facts.host = bootstrap::this_hosts_name();
  facts.installation = gather_installation();
  facts.kernel = gather_kernel();
  facts.processors = gather_processors();
  facts.memory = gather_memory();
  facts.limits = gather_limits();
  facts.interfaces = gather_interfaces();
  const char* ucx_devices = std::getenv("UCX_NET_DEVICES");
  auto choice = transport::ucx::choose_interfaces(transport::ucx::list_interfaces(), "auto",
                                                  ucx_devices != nullptr ? ucx_devices : "", false);
  facts.chosen_interfaces = choice ? choice.value().devices : "none";
  facts.why_chosen = choice ? choice.value().reason : choice.error().message;
  facts.software = gather_software();
  return facts;
}

}  // namespace terrane::tools
