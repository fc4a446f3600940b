#include <fmt/ranges.h>

#include <algorithm>

#include "tools/launch/gateways/gateway_address.h"
#include "tools/launch/gateways/topology_file.h"

namespace terrane::tools {

base::Result<std::vector<GatewaySaid>> parse_gateways(std::string_view text) {
  auto groups = parse_host_groups("--gateways", text);
  if (!groups) return groups.error();
  std::vector<GatewaySaid> gateways;
  for (const ClusterHosts& group : groups.value()) {
    for (const Said<std::string>& host : group.hosts) {
      for (const GatewaySaid& other : gateways)
        if (other.name.value == host.value)
          return base::error("--gateways {}: '{}' is there twice; leave it in one cluster", text,
                             host.value);
      gateways.push_back({host, group.name, host.value, "", 0});
    }
  }
  return gateways;
}

EncryptedHosts encrypt_hosts(const std::vector<std::string>& hosts) {
  EncryptedHosts encrypted;
  for (const std::string& host : hosts) {
    Said<std::string> name{host, "--encrypt"};
    encrypted.clusters.push_back({name, {name}});
    encrypted.gateways.push_back({name, name, host, "", 0});
  }
  return encrypted;
}

base::Result<std::vector<GatewayPlan>> form_gateways(const std::vector<GatewaySaid>& gateways,
                                                     const bootstrap::JobMap& map) {
  std::vector<GatewayPlan> plans;
  if (gateways.empty()) return plans;
  if (map.clusters.empty())
    return base::error(
        "{}: gateways join clusters, and there are none; add [[clusters]] or --clusters",
        gateways.front().cluster.where);
  if (gateways.size() > bootstrap::kMaxGateways)
    return base::error("{}: a job has at most {} gateways", gateways.front().cluster.where,
                       bootstrap::kMaxGateways);
  for (const GatewaySaid& said : gateways) {
    auto at = std::find(map.clusters.begin(), map.clusters.end(), said.cluster.value);
    if (at == map.clusters.end())
      return base::error("{}: there is no cluster \"{}\"; there are {}", said.cluster.where,
                         said.cluster.value, fmt::join(map.clusters, ", "));
    for (const GatewayPlan& other : plans)
      if (gateway_address(other.name) == gateway_address(said.name.value))
        return base::error("{}: the names {} and {} are too alike; change one", said.cluster.where,
                           other.name, said.name.value);
    plans.push_back({.name = said.name.value,
                     .cluster = static_cast<std::uint32_t>(at - map.clusters.begin()),
                     .host = said.host,
                     .link_address = said.link_address,
                     .link_port = said.link_port});
  }
  for (std::uint32_t cluster = 0; cluster < map.clusters.size(); ++cluster)
    if (std::none_of(plans.begin(), plans.end(),
                     [cluster](const GatewayPlan& plan) { return plan.cluster == cluster; }))
      return base::error("{}: cluster \"{}\" has no gateway; add one to it",
                         gateways.front().cluster.where, map.clusters[cluster]);
  return plans;
}

}  // namespace terrane::tools
