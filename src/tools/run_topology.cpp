#include "tools/run_topology.h"

#include "tools/launch/host/limits.h"
#include "tools/launch/slurm.h"

namespace terrane::tools {
namespace {

base::Result<> take_nodes(const TopologyFile& topology, RunOptions& options) {
  if (!topology.nodes || !options.nodes.empty()) return {};
  options.nodes = std::to_string(topology.nodes->value);
  bool several =
      !options.hosts.empty() || !options.host_file.empty() || !options.topology_hosts.empty();
  if (several) return {};
  auto nodes = parse_nodes(options.nodes, node_limit());
  if (!nodes) return base::error("{}: {}", topology.nodes->where, nodes.error().message);
  return {};
}

}  // namespace

base::Result<TopologyFile> take_topology(RunOptions& options) {
  if (options.topology.empty()) return TopologyFile();
  auto topology = read_topology(options.topology, "--topology ");
  if (!topology) return topology;
  const TopologyFile& said = topology.value();
  if (options.hosts.empty() && options.host_file.empty()) options.topology_hosts = said.hosts;
  if (options.clusters.empty() && !said.clusters.empty() && !inside_slurm_allocation() &&
      options.hosts.empty() && options.host_file.empty() && said.hosts.empty())
    options.topology_hosts = hosts_of(said.clusters);
  if (options.memory.empty() && said.memory) options.memory = said.memory->value;
  if (options.on_death.empty() && said.on_death) options.on_death = said.on_death->value;
  if (auto taken = take_nodes(said, options); !taken) return taken.error();
  return topology;
}

}  // namespace terrane::tools
