#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace terrane::bootstrap {

// What is known of the network between two clusters.
struct ClusterLink {
  std::uint32_t from = 0;  // clusters
  std::uint32_t to = 0;
  std::uint64_t bytes_a_second = 0;  // 0: not said
  std::uint64_t latency_ns = 0;      // one way; 0: not said

  bool operator==(const ClusterLink&) const = default;
};

// Where a gateway listens: addresses in numbers.
struct GatewayDoor {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;

  auto fields() { return std::tie(addresses, port); }
  bool operator==(const GatewayDoor&) const = default;
};

// How the nodes of one cluster reach the others, where gateways join the clusters
// (docs/clusters.md).
struct GatewayRoutes {
  std::vector<GatewayDoor> doors;  // of the gateways of this cluster; none: the job has no gateways
  std::string key;                 // that nodes and gateways know, in hexadecimal digits
  std::uint64_t window = 0;        // bytes from one node to another that may be on their way
  // Bytes a second to each cluster, as links say, numbered as clusters_of_nodes() does; 0: not
  // said. Empty: no links say anything.
  std::vector<std::uint64_t> bandwidths = {};
  bool encrypt = false;  // also between nodes and gateways

  bool operator==(const GatewayRoutes&) const = default;
};

// On which host each node of a job runs. Hosts are numbered from 0 in the order of their first
// nodes. The last `guests` nodes, each on a host of its own, are places for those who join the
// running job.
struct JobMap {
  std::vector<std::string> names;      // by host
  std::vector<std::uint32_t> host_of;  // by node
  std::uint32_t guests = 0;
  // The names of the clusters that the hosts form, and the one of each host; both empty: all hosts
  // are one. Guests are in the first one.
  std::vector<std::string> clusters = {};
  std::vector<std::uint32_t> cluster_of = {};
  std::vector<ClusterLink> links = {};
  GatewayRoutes routes = {};  // as the host that receives this map needs them

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(host_of.size()); }
  std::uint32_t nodes_on(std::uint32_t host) const;
  const std::string& name_of(std::uint32_t node) const { return names[host_of[node]]; }
  std::uint32_t cluster_of_host(std::uint32_t host) const {
    return host < cluster_of.size() ? cluster_of[host] : 0;
  }
  // By node; numbered from 0 in the order of their first nodes.
  std::vector<std::uint32_t> clusters_of_nodes() const;
  // With which the job starts: the first nodes, on the first hosts.
  std::uint32_t started() const { return nodes() - guests; }
  std::uint32_t started_hosts() const { return static_cast<std::uint32_t>(names.size()) - guests; }

  bool operator==(const JobMap&) const = default;
};

inline constexpr std::uint32_t kMaxJobHosts = 1024;
inline constexpr std::uint32_t kMaxJobNodes = 4096;
inline constexpr std::size_t kMaxHostName = 255;
inline constexpr std::uint32_t kMaxClusters = 16;
inline constexpr std::uint32_t kMaxGateways = 64;  // of a job
inline constexpr std::uint32_t kMaxDoorAddresses = 64;

// Within the limits, and every node on a host that there is.
bool is_sound(const JobMap& map);

// Adds places for so many guests.
void add_guests(JobMap& map, std::uint32_t guests);

// All `nodes` on the host of this name.
JobMap map_of_one_host(std::uint32_t nodes, std::string name);

// The bytes in which the launcher tells the map to a node. Both ends are of the same build's wire
// version, on machines of the same byte order.
std::vector<std::byte> encode_map(const JobMap& map);
// nullopt: not a map, or one over the limits, or a node on a host that there is not. Never reads
// outside of `bytes`.
std::optional<JobMap> decode_map(std::span<const std::byte> bytes);

}  // namespace terrane::bootstrap
