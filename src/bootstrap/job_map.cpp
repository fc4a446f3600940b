#include "bootstrap/job_map.h"

#include <algorithm>
#include <cstring>

namespace terrane::bootstrap {
namespace {

void put(std::vector<std::byte>& out, const void* data, std::size_t size) {
  std::size_t before = out.size();
  out.resize(before + size);
  if (size != 0) std::memcpy(out.data() + before, data, size);
}

void put_number(std::vector<std::byte>& out, std::uint32_t number) {
  put(out, &number, sizeof number);
}

bool take(std::span<const std::byte>& from, void* to, std::size_t size) {
  if (from.size() < size) return false;
  if (size != 0) std::memcpy(to, from.data(), size);
  from = from.subspan(size);
  return true;
}

bool take_name(std::span<const std::byte>& from, std::string& name) {
  std::uint32_t size = 0;
  if (!take(from, &size, sizeof size) || size > kMaxHostName || size > from.size()) return false;
  name.resize(size);
  return take(from, name.data(), size);
}

void put_names(std::vector<std::byte>& out, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    put_number(out, static_cast<std::uint32_t>(name.size()));
    put(out, name.data(), name.size());
  }
}

// The clusters of a map that says how many hosts there are.
bool take_clusters(std::span<const std::byte>& from, JobMap& map) {
  std::uint32_t clusters = 0, links = 0;
  if (!take(from, &clusters, sizeof clusters) || !take(from, &links, sizeof links) ||
      clusters > kMaxClusters || links > kMaxClusters * kMaxClusters)
    return false;
  map.clusters.resize(clusters);
  for (std::string& name : map.clusters)
    if (!take_name(from, name)) return false;
  map.cluster_of.resize(clusters == 0 ? 0 : map.started_hosts());
  for (std::uint32_t& cluster : map.cluster_of)
    if (!take(from, &cluster, sizeof cluster)) return false;
  map.links.resize(links);
  for (ClusterLink& link : map.links)
    if (!take(from, &link.from, sizeof link.from) || !take(from, &link.to, sizeof link.to) ||
        !take(from, &link.bytes_a_second, sizeof link.bytes_a_second) ||
        !take(from, &link.latency_ns, sizeof link.latency_ns))
      return false;
  return true;
}

bool clusters_are_sound(const JobMap& map) {
  auto count = map.clusters.size();
  bool none = count == 0 && map.cluster_of.empty() && map.links.empty();
  bool some = count > 0 && count <= kMaxClusters && map.cluster_of.size() == map.started_hosts();
  return (none || some) &&
         std::all_of(map.clusters.begin(), map.clusters.end(),
                     [](const std::string& name) { return name.size() <= kMaxHostName; }) &&
         std::all_of(map.cluster_of.begin(), map.cluster_of.end(),
                     [count](std::uint32_t cluster) { return cluster < count; }) &&
         std::all_of(map.links.begin(), map.links.end(), [count](const ClusterLink& link) {
           return link.from < count && link.to < count && link.from != link.to;
         });
}

void put_routes(std::vector<std::byte>& out, const GatewayRoutes& routes) {
  put_number(out, static_cast<std::uint32_t>(routes.doors.size()));
  for (const GatewayDoor& door : routes.doors) {
    put_number(out, door.port);
    put_number(out, static_cast<std::uint32_t>(door.addresses.size()));
    put_names(out, door.addresses);
  }
  put_names(out, {routes.key});
  put(out, &routes.window, sizeof routes.window);
  put_number(out, static_cast<std::uint32_t>(routes.bandwidths.size()));
  put(out, routes.bandwidths.data(), routes.bandwidths.size() * sizeof routes.bandwidths[0]);
  put_number(out, routes.encrypt ? 1 : 0);
}

bool take_door(std::span<const std::byte>& bytes, GatewayDoor& door) {
  std::uint32_t port = 0, addresses = 0;
  if (!take(bytes, &port, sizeof port) || !take(bytes, &addresses, sizeof addresses)) return false;
  if (port > 0xffff || addresses > kMaxDoorAddresses) return false;
  door.port = static_cast<std::uint16_t>(port);
  door.addresses.resize(addresses);
  return std::all_of(door.addresses.begin(), door.addresses.end(),
                     [&](std::string& address) { return take_name(bytes, address); });
}

bool take_routes(std::span<const std::byte>& bytes, GatewayRoutes& routes) {
  std::uint32_t doors = 0, clusters = 0, encrypt = 0;
  if (!take(bytes, &doors, sizeof doors) || doors > kMaxGateways) return false;
  routes.doors.resize(doors);
  for (GatewayDoor& door : routes.doors)
    if (!take_door(bytes, door)) return false;
  if (!take_name(bytes, routes.key) || !take(bytes, &routes.window, sizeof routes.window) ||
      !take(bytes, &clusters, sizeof clusters) || clusters > kMaxClusters)
    return false;
  routes.bandwidths.resize(clusters);
  bool whole = take(bytes, routes.bandwidths.data(), clusters * sizeof routes.bandwidths[0]) &&
               take(bytes, &encrypt, sizeof encrypt) && encrypt <= 1;
  routes.encrypt = encrypt != 0;
  return whole;
}

}  // namespace

std::vector<std::uint32_t> JobMap::clusters_of_nodes() const {
  std::vector<std::uint32_t> seen, numbers;
  for (std::uint32_t host : host_of) {
    std::uint32_t cluster = cluster_of_host(host);
    auto at = std::find(seen.begin(), seen.end(), cluster);
    numbers.push_back(static_cast<std::uint32_t>(at - seen.begin()));
    if (at == seen.end()) seen.push_back(cluster);
  }
  return numbers;
}

std::uint32_t JobMap::nodes_on(std::uint32_t host) const {
  return static_cast<std::uint32_t>(std::count(host_of.begin(), host_of.end(), host));
}

bool is_sound(const JobMap& map) {
  auto hosts = map.names.size();
  if (map.guests >= hosts || map.guests >= map.nodes()) return false;
  for (std::uint32_t guest = 0; guest < map.guests; ++guest) {
    if (map.host_of[map.started() + guest] != map.started_hosts() + guest) return false;
  }
  return clusters_are_sound(map) && hosts > 0 && hosts <= kMaxJobHosts && map.nodes() > 0 &&
         map.nodes() <= kMaxJobNodes &&
         std::all_of(map.names.begin(), map.names.end(),
                     [](const std::string& name) { return name.size() <= kMaxHostName; }) &&
         std::all_of(map.host_of.begin(), map.host_of.end(),
                     [hosts](std::uint32_t host) { return host < hosts; });
}

void add_guests(JobMap& map, std::uint32_t guests) {
  for (std::uint32_t guest = 0; guest < guests; ++guest) {
    map.host_of.push_back(static_cast<std::uint32_t>(map.names.size()));
    map.names.push_back("guest");
  }
  map.guests += guests;
}

JobMap map_of_one_host(std::uint32_t nodes, std::string name) {
  return {{std::move(name)}, std::vector<std::uint32_t>(nodes, 0), 0};
}

std::vector<std::byte> encode_map(const JobMap& map) {
  std::vector<std::byte> out;
  put_number(out, static_cast<std::uint32_t>(map.names.size()));
  put_number(out, map.nodes());
  put_number(out, map.guests);
  put_names(out, map.names);
  put(out, map.host_of.data(), map.host_of.size() * sizeof map.host_of[0]);
  put_number(out, static_cast<std::uint32_t>(map.clusters.size()));
  put_number(out, static_cast<std::uint32_t>(map.links.size()));
  put_names(out, map.clusters);
  put(out, map.cluster_of.data(), map.cluster_of.size() * sizeof map.cluster_of[0]);
  for (const ClusterLink& link : map.links) {
    put_number(out, link.from);
    put_number(out, link.to);
    put(out, &link.bytes_a_second, sizeof link.bytes_a_second);
    put(out, &link.latency_ns, sizeof link.latency_ns);
  }
  put_routes(out, map.routes);
  return out;
}

std::optional<JobMap> decode_map(std::span<const std::byte> bytes) {
  std::uint32_t hosts = 0, nodes = 0;
  JobMap map;
  if (!take(bytes, &hosts, sizeof hosts) || !take(bytes, &nodes, sizeof nodes) ||
      !take(bytes, &map.guests, sizeof map.guests)) {
    return std::nullopt;
  }
  if (hosts == 0 || hosts > kMaxJobHosts || nodes == 0 || nodes > kMaxJobNodes) return std::nullopt;
  map.names.resize(hosts);
  for (std::string& name : map.names) {
    if (!take_name(bytes, name)) return std::nullopt;
  }
  map.host_of.resize(nodes);
  if (!take(bytes, map.host_of.data(), nodes * sizeof map.host_of[0]) || map.guests >= hosts ||
      !take_clusters(bytes, map) || !take_routes(bytes, map.routes) || !bytes.empty()) {
    return std::nullopt;
  }
  return is_sound(map) ? std::optional(std::move(map)) : std::nullopt;
}

}  // namespace terrane::bootstrap
