#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bootstrap/job_map.h"
#include "tools/launch/host_list.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// A value and where it is, "FILE:LINE:COLUMN".
template <typename T>
struct Said {
  T value{};
  std::string where;
};

// A cluster of hosts, and what is known of the network between two of them.
struct ClusterHosts {
  Said<std::string> name;
  std::vector<Said<std::string>> hosts;
};
struct LinkBetween {
  Said<std::string> from, to;
  std::uint64_t bytes_a_second = 0;  // 0: not said
  std::uint64_t latency_ns = 0;      // one way; 0: not said
};

// A gateway of a cluster (docs/clusters.md).
struct GatewaySaid {
  Said<std::string> name, cluster;
  std::string host;          // empty: it is started by hand
  std::string link_address;  // empty: all of its own
  std::uint16_t link_port = 0;
};

// A job whose hosts share no connection that can be read: each is a cluster with a gateway of its
// own.
struct EncryptedHosts {
  std::vector<ClusterHosts> clusters;
  std::vector<GatewaySaid> gateways;
};
EncryptedHosts encrypt_hosts(const std::vector<std::string>& hosts);

// A job as its TOML file describes it: where nodes run, and which of them are servers of chunks.
// What it does not say is left to the command line and the defaults.
struct TopologyFile {
  std::string file;
  std::optional<Said<std::uint32_t>> nodes;
  std::optional<Said<std::string>> memory, on_death;
  std::vector<HostSlots> hosts;

  // Of [servers]; one of the first three at most.
  std::optional<Said<std::uint32_t>> server_count, servers_per_host;
  std::vector<Said<std::uint32_t>> server_nodes;
  std::vector<Said<std::string>> server_hosts;  // with servers_per_host; none: all

  std::vector<ClusterHosts> clusters;
  std::vector<LinkBetween> links;
  std::vector<GatewaySaid> gateways;
};

// Reads the value of an option that names hosts by cluster, "a:h0,h1/b:h2,h3".
base::Result<std::vector<ClusterHosts>> parse_host_groups(const std::string& option,
                                                          std::string_view text);
// The value of --clusters, or of the variable `option`: each of them once.
base::Result<std::vector<ClusterHosts>> parse_clusters(std::string_view text,
                                                       const std::string& option = "--clusters");
// The variable TERRANE_CLUSTERS where it says which hosts form a cluster; empty: it does not.
std::string clusters_of_environment();

// All hosts that the clusters name, with a slot each.
std::vector<HostSlots> hosts_of(const std::vector<ClusterHosts>& clusters);

// Puts each host of the map into its cluster. Without clusters nothing is done. The error names the
// host that is in none, or the cluster that has no host of the job.
base::Result<> form_clusters(const std::vector<ClusterHosts>& clusters,
                             const std::vector<LinkBetween>& links, bootstrap::JobMap& map);

// Reads the value of --gateways, "a:g0,g1/b:g2": hosts by cluster.
base::Result<std::vector<GatewaySaid>> parse_gateways(std::string_view text);

// The gateways of a job of this map, whose clusters are formed. None: there are none. The error
// names the gateway of a cluster that there is not, or the cluster that has none.
base::Result<std::vector<GatewayPlan>> form_gateways(const std::vector<GatewaySaid>& gateways,
                                                     const bootstrap::JobMap& map);

// Reads the text of such a file (docs/chunks.md and docs/clusters.md describe it). The error names
// file, line and column, what is wrong there and what would be right. A key that is not known is an
// error.
base::Result<TopologyFile> parse_topology(std::string_view text, const std::string& file);
// The same of the file. option: as it was named, for messages.
base::Result<TopologyFile> read_topology(const std::string& file, std::string_view option);

// The nodes that are servers in a job of this map, in the form of --servers; empty: the file does
// not say. The error is one of the file, as above.
base::Result<std::string> servers_of(const TopologyFile& topology, const bootstrap::JobMap& map);

}  // namespace terrane::tools
