#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "transport/self/self_factory.h"
#include "transport/shm/shm_factory.h"
#include "transport/transport.h"
#include "transport/ucx/ucx_factory.h"

namespace terrane::transport {
namespace {

struct Backend {
  std::string_view name;
  std::unique_ptr<TransportFactory> (*make)(const TransportOptions& options);
};

constexpr Backend kBackends[] = {
    {"self", [](const TransportOptions&) { return self::make_self_factory(); }},
    {"shm", [](const TransportOptions&) { return shm::make_shm_factory(); }},
    {"ucx", [](const TransportOptions& options) { return ucx::make_ucx_factory(options); }},
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
                                                               const Placement& placement,
                                                               const TransportOptions& options) {
  if (name == "auto") {
    name = placement.nodes == 1 ? "self" : placement.one_host() ? "shm" : "ucx";
  }
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.make(options);
  }
  return base::error("there is no transport \"{}\"; there are auto, {}", name,
                     fmt::join(transport_names(), ", "));
}

}  // namespace terrane::transport
