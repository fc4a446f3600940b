#include "tools/launch/gateways/gateway_window.h"

#include <algorithm>
#include <vector>

#include "tools/launch/gateways/cluster_paths.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// The least that a pair needs to get on.
constexpr std::uint64_t kLeastWindow = std::uint64_t{64} << 10;
// What a gateway may hold for all pairs of nodes, and a pair has on its way at most.
struct Limits {
  std::uint64_t budget_bytes, most_window;
};
constexpr Limits kUsual{256 * kMiB, kMostUsualWindow};
constexpr Limits kOfLinks{1024 * kMiB, 64 * kMiB};  // where links say what they carry
// A sender hears what was taken after each quarter of a window, so three quarters must fill the way
// (4/3); the rest is for what gateways and processors add to the round trip.
constexpr std::uint64_t kWindowHalves = 3;  // of what is under way
// A node keeps at most two windows for each node of other clusters: with --memory, an eighth of it.
constexpr std::uint64_t kMemoryShare = 16;

std::uint64_t far_nodes(const bootstrap::JobMap& map, std::uint64_t inside) {
  return map.nodes() - inside;
}

// Of nodes that the busiest gateway carries frames for, if it is the only one of its cluster.
std::uint64_t pairs_of_gateway(const bootstrap::JobMap& map,
                               const std::vector<std::uint64_t>& nodes, bool passes_others) {
  std::uint64_t most = 1, all = 0;
  for (std::uint64_t inside : nodes) {
    most = std::max(most, 2 * inside * far_nodes(map, inside));
    all += inside * far_nodes(map, inside);
  }
  return passes_others ? std::max(all, most) : most;
}

}  // namespace

std::uint64_t gateway_window(const JobPlan& plan) {
  const bootstrap::JobMap& map = plan.program.map;
  std::vector<std::uint64_t> nodes(std::max<std::size_t>(map.clusters.size(), 1));
  for (std::uint32_t host : map.host_of) ++nodes[map.cluster_of_host(host)];
  std::uint64_t under_way = 0, most_far = 1;
  bool passes_others = false;
  for (std::uint32_t cluster = 0; cluster < map.clusters.size(); ++cluster) {
    if (nodes[cluster] == 0) continue;
    most_far = std::max(most_far, far_nodes(map, nodes[cluster]));
    for (const ClusterPath& path : paths_from(map, cluster)) {
      under_way = std::max(under_way, path.bytes_under_way());
      passes_others |= path.links > 1;
    }
  }
  std::uint64_t pairs = pairs_of_gateway(map, nodes, passes_others);
  std::uint64_t usual = std::clamp(kUsual.budget_bytes / pairs, kLeastWindow, kUsual.most_window);
  std::uint64_t most = std::min(kOfLinks.budget_bytes / pairs, kOfLinks.most_window);
  if (plan.memory_bytes != 0) most = std::min(most, plan.memory_bytes / kMemoryShare / most_far);
  std::uint64_t wanted = std::min(under_way, kOfLinks.most_window) * kWindowHalves / 2;
  return std::max(usual, std::min(wanted, most));
}

}  // namespace terrane::tools
