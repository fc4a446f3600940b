#include "tools/launch/gateways/cluster_paths.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace terrane::tools {
namespace {

constexpr double kSecond_ns = 1e9;

// A way that ends where the link begins, and the link.
ClusterPath extend(const ClusterPath& path, const bootstrap::ClusterLink& link) {
  ClusterPath longer{path.links + 1, link.bytes_a_second, 2 * link.latency_ns};
  if (path.links == 0) return longer;
  longer.bytes_a_second = std::min(longer.bytes_a_second, path.bytes_a_second);
  bool both_say = longer.round_trip_ns != 0 && path.round_trip_ns != 0;
  longer.round_trip_ns = both_say ? longer.round_trip_ns + path.round_trip_ns : 0;
  return longer;
}

std::string describe_bandwidth(std::uint64_t bytes_a_second) {
  if (bytes_a_second == 0) return "bandwidth not given";
  double bits = static_cast<double>(bytes_a_second) * 8;
  if (bits >= 1e9) return fmt::format("{:.4g} Gbit/s", bits / 1e9);
  if (bits >= 1e6) return fmt::format("{:.4g} Mbit/s", bits / 1e6);
  return fmt::format("{:.4g} kbit/s", bits / 1e3);
}

std::string describe_latency(std::uint64_t ns) {
  if (ns == 0) return "latency not given";
  if (ns >= 1'000'000) return fmt::format("{:.4g} ms one way", static_cast<double>(ns) / 1e6);
  return fmt::format("{:.4g} us one way", static_cast<double>(ns) / 1e3);
}

}  // namespace

std::uint64_t ClusterPath::bytes_under_way() const {
  double bytes =
      static_cast<double>(bytes_a_second) * static_cast<double>(round_trip_ns) / kSecond_ns;
  return static_cast<std::uint64_t>(std::min(std::ceil(bytes), 1e18));
}

std::vector<ClusterPath> paths_from(const bootstrap::JobMap& map, std::uint32_t cluster) {
  std::vector<ClusterPath> paths(map.clusters.size());
  std::vector<std::uint32_t> now{cluster};
  for (std::uint32_t links = 1; !now.empty(); ++links) {
    std::vector<std::uint32_t> next;
    for (std::uint32_t at : now) {
      for (const bootstrap::ClusterLink& link : map.links) {
        if (link.from != at && link.to != at) continue;
        std::uint32_t to = link.from == at ? link.to : link.from;
        ClusterPath& known = paths[to];
        if (to == cluster || (known.links != 0 && known.links < links)) continue;
        ClusterPath path = extend(paths[at], link);
        if (known.links == 0) next.push_back(to);
        known = {links, std::max(known.bytes_a_second, path.bytes_a_second),
                 std::max(known.round_trip_ns, path.round_trip_ns)};
      }
    }
    now = std::move(next);
  }
  return paths;
}

std::vector<std::uint64_t> bandwidths_from(const bootstrap::JobMap& map, std::uint32_t host) {
  std::vector<ClusterPath> paths = paths_from(map, map.cluster_of_host(host));
  bool some = std::any_of(paths.begin(), paths.end(),
                          [](const ClusterPath& path) { return path.bytes_a_second != 0; });
  if (!some) return {};
  std::vector<std::uint32_t> numbers = map.clusters_of_nodes();
  std::vector<std::uint64_t> bandwidths(*std::max_element(numbers.begin(), numbers.end()) + 1);
  for (std::uint32_t node = 0; node < map.nodes(); ++node)
    bandwidths[numbers[node]] = paths[map.cluster_of_host(map.host_of[node])].bytes_a_second;
  return bandwidths;
}

std::vector<std::string> describe_clusters(const bootstrap::JobMap& map) {
  std::vector<std::string> lines;
  for (std::uint32_t cluster = 0; cluster < map.clusters.size(); ++cluster) {
    std::vector<std::string> hosts;
    for (std::uint32_t host = 0; host < map.started_hosts(); ++host)
      if (map.cluster_of_host(host) == cluster) hosts.push_back(map.names[host]);
    lines.push_back(fmt::format(
        "cluster {}: hosts {}", map.clusters[cluster],
        hosts.empty() ? "none of this job" : fmt::format("{}", fmt::join(hosts, ", "))));
  }
  for (const bootstrap::ClusterLink& link : map.links)
    lines.push_back(fmt::format("link between {} and {}: {}, {}", map.clusters[link.from],
                                map.clusters[link.to], describe_bandwidth(link.bytes_a_second),
                                describe_latency(link.latency_ns)));
  return lines;
}

}  // namespace terrane::tools
