#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "tools/launch/gateways/topology_file.h"

namespace terrane::tools {

base::Result<std::vector<ClusterHosts>> parse_host_groups(const std::string& option,
                                                          std::string_view text) {
  auto wrong = [&, all = text](std::string_view part, const char* what) {
    return base::error("{} {}: '{}' {}; write a:h0,h1/b:h2,h3", option, all, part, what);
  };
  std::vector<ClusterHosts> groups;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == part.size())
      return wrong(part, "is no cluster and hosts");
    ClusterHosts group{{std::string(part.substr(0, colon)), option}, {}};
    for (std::string_view rest = part.substr(colon + 1); !rest.empty();) {
      std::string host(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(rest.size(), host.size() + 1));
      if (!is_host_name(host)) return wrong(host, "is not the name of a host");
      group.hosts.push_back({host, option});
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string clusters_of_environment() {
  const char* text = std::getenv("TERRANE_CLUSTERS");
  std::string clusters = text == nullptr ? "" : text;
  return clusters == "0" || clusters == "1" ? "" : clusters;  // these say whether they are used
}

base::Result<std::vector<ClusterHosts>> parse_clusters(std::string_view text,
                                                       const std::string& option) {
  auto groups = parse_host_groups(option, text);
  if (!groups) return groups.error();
  std::vector<ClusterHosts> clusters = std::move(groups).value();
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (clusters[i].name.value == clusters[j].name.value)
        return base::error("{}: cluster {} is there twice; give it all its hosts once", option,
                           clusters[i].name.value);
  }
  if (clusters.size() > bootstrap::kMaxClusters)
    return base::error("{}: a job has at most {} clusters", option, bootstrap::kMaxClusters);
  return clusters;
}

std::vector<HostSlots> hosts_of(const std::vector<ClusterHosts>& clusters) {
  std::vector<HostSlots> hosts;
  for (const ClusterHosts& cluster : clusters)
    for (const auto& host : cluster.hosts) hosts.push_back({host.value, 1});
  return hosts;
}

base::Result<> form_clusters(const std::vector<ClusterHosts>& clusters,
                             const std::vector<LinkBetween>& links, bootstrap::JobMap& map) {
  if (clusters.empty()) return {};
  constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> of(map.names.size(), kNone);
  std::vector<std::string> names;
  auto index = [&](const std::string& name) {
    return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const ClusterHosts& cluster : clusters) {
    for (const auto& host : cluster.hosts) {
      auto at = std::find(map.names.begin(), map.names.end(), host.value) - map.names.begin();
      if (static_cast<std::size_t>(at) == of.size()) continue;  // the job has no node there
      if (of[at] != kNone)
        return base::error("{}: host \"{}\" is in cluster \"{}\" and in \"{}\"; leave it in one",
                           host.where, host.value, names[of[at]], cluster.name.value);
      of[at] = static_cast<std::uint32_t>(names.size());
    }
    names.push_back(cluster.name.value);
  }
  for (std::size_t host = 0; host < of.size(); ++host)
    if (of[host] == kNone)
      return base::error("{}: host \"{}\" is in no cluster; add it to one of {}",
                         clusters.front().name.where, map.names[host], fmt::join(names, ", "));
  map.cluster_of = std::move(of);
  for (const LinkBetween& link : links)
    map.links.push_back(
        {index(link.from.value), index(link.to.value), link.bytes_a_second, link.latency_ns});
  map.clusters = std::move(names);
  return {};
}

}  // namespace terrane::tools
