#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "transport/delay/delay_factory.h"
#include "transport/mixed/mixed_factory.h"
#include "transport/routed/routed_factory.h"
#include "transport/self/self_factory.h"
#include "transport/shm/shm_factory.h"
#include "transport/transport.h"
#include "transport/ucx/interfaces.h"
#include "transport/ucx/ucx_factory.h"

namespace terrane::transport {
namespace {

using Made = std::unique_ptr<TransportFactory>;

struct Backend {
  std::string_view name;
  Made (*make)(const TransportOptions& options);
};

constexpr Backend kBackends[] = {
    {"self", [](const TransportOptions&) -> Made { return self::make_self_factory(); }},
    {"shm",
     [](const TransportOptions&) -> Made { return shm::make_shm_factory(shm::Wake::kByFutex); }},
    {"ucx",
     [](const TransportOptions& options) -> Made {
       return ucx::make_ucx_factory(options, ucx::Peers::kAll);
     }},
    {"mixed",
     [](const TransportOptions& options) -> Made { return mixed::make_mixed_factory(options); }},
    {"routed",
     [](const TransportOptions& options) -> Made {
       return routed::make_routed_factory(options, routed::Peers::kAll);
     }},
};

}  // namespace

bool Placement::one_host() const {
  return std::all_of(host_of.begin(), host_of.end(),
                     [this](std::uint32_t host) { return host == host_of.front(); });
}

bool Placement::one_cluster() const {
  return std::all_of(cluster_of.begin(), cluster_of.end(),
                     [this](std::uint32_t cluster) { return cluster == cluster_of.front(); });
}

bool Placement::one_node_on_each_host() const {
  auto hosts = host_of;
  std::sort(hosts.begin(), hosts.end());
  return std::adjacent_find(hosts.begin(), hosts.end()) == hosts.end();
}

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const Backend& backend : kBackends) names.push_back(backend.name);
  return names;
}

base::Result<std::string> describe_network(const TransportOptions& options) {
  auto choice = ucx::choose_interfaces_here(options.net, false);
  if (!choice) return choice.error();
  return fmt::format("{} ({})", choice.value().devices, choice.value().reason);
}

base::Result<std::unique_ptr<TransportFactory>> make_transport(std::string_view name,
                                                               const Placement& placement,
                                                               const TransportOptions& options) {
  if (name == "auto") {
    bool has_gateways = !options.routes.gateways.empty() && !placement.one_cluster();
    name = placement.nodes == 1                ? "self"
           : has_gateways                      ? "mixed"
           : placement.one_host()              ? "shm"
           : placement.one_node_on_each_host() ? "ucx"
                                               : "mixed";
  }
  for (const Backend& backend : kBackends) {
    if (backend.name != name) continue;
    if (options.extra_latency_ns == 0) return backend.make(options);
    return delay::make_delayed_factory(backend.make(options), options.extra_latency_ns);
  }
  return base::error("there is no transport \"{}\"; there are auto, {}", name,
                     fmt::join(transport_names(), ", "));
}

}  // namespace terrane::transport
