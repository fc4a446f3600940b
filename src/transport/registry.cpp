#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "transport/self/self_factory.h"
#include "transport/shm/shm_factory.h"
#include "transport/transport.h"

namespace terrane::transport {
namespace {

struct Backend {
  std::string_view name;
  std::unique_ptr<TransportFactory> (*make)();
};

constexpr Backend kBackends[] = {
    {"self", self::make_self_factory},
    {"shm", shm::make_shm_factory},
};

}  // namespace

bool Placement::one_host() const {
  return std::all_of(host_of.begin(), host_of.end(),
                     [this](std::uint32_t host) { return host == host_of.front(); });
}

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const Backend& backend : kBackends) names.push_back(backend.name);
  return names;
}

base::Result<std::unique_ptr<TransportFactory>> make_transport(std::string_view name,
                                                               const Placement& placement) {
  if (name == "auto") {
    if (!placement.one_host()) {
      return base::error("the nodes are on several hosts, and no transport reaches across hosts");
    }
    name = placement.nodes == 1 ? "self" : "shm";
  }
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.make();
  }
  return base::error("there is no transport \"{}\"; there are auto, {}", name,
                     fmt::join(transport_names(), ", "));
}

}  // namespace terrane::transport
