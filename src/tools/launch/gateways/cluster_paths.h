#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/job_map.h"

namespace terrane::tools {

// What the job's links say of the way from one cluster to another.
struct ClusterPath {
  std::uint32_t links = 0;           // on the way; 0: no links lead there
  std::uint64_t bytes_a_second = 0;  // of the narrowest link; 0: one of them does not say
  std::uint64_t round_trip_ns = 0;   // 0: one of them does not say

  // That are on their way there while the answer to the first one is on its way back; 0: not known.
  std::uint64_t bytes_under_way() const;
  bool operator==(const ClusterPath&) const = default;
};

// By cluster, in the numbers of the map: the way from `cluster` over the fewest links, as gateways
// choose it. Of several such ways, the highest bandwidth and the longest round trip count.
std::vector<ClusterPath> paths_from(const bootstrap::JobMap& map, std::uint32_t cluster);

// Bytes a second from the host to each cluster, for its GatewayRoutes; empty: no links say
// anything.
std::vector<std::uint64_t> bandwidths_from(const bootstrap::JobMap& map, std::uint32_t host);

// A sentence for each cluster and each link, for people.
std::vector<std::string> describe_clusters(const bootstrap::JobMap& map);

}  // namespace terrane::tools
