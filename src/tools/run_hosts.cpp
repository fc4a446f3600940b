#include "tools/run_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "bootstrap/this_host.h"
#include "tools/launch/addresses.h"
#include "tools/launch/gateways/topology_file.h"
#include "tools/launch/host/limits.h"
#include "tools/launch/host_list.h"
#include "tools/launch/slurm.h"

namespace terrane::tools {
namespace {

struct EngineName {
  const char* name;
  StartEngine engine;
};

constexpr EngineName kEngines[] = {{"local", StartEngine::kLocal},
                                   {"ssh", StartEngine::kSsh},
                                   {"mpirun", StartEngine::kMpirun},
                                   {"prterun", StartEngine::kPrterun},
                                   {"srun", StartEngine::kSrun}};

// The hosts that were asked for, and where they come from.
struct Wanted {
  std::vector<HostSlots> hosts;
  std::string source;  // empty: nobody asked for any
};

base::Result<std::vector<HostSlots>> read_host_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::error("--hostfile {}: {}", path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_host_file(text, path);
}

// With both, -H chooses among the file's hosts.
base::Result<Wanted> wanted_hosts(const RunOptions& options) {
  Wanted wanted;
  if (!options.topology_hosts.empty()) return Wanted{options.topology_hosts, options.topology};
  if (!options.host_file.empty()) {
    auto hosts = read_host_file(options.host_file);
    if (!hosts) return hosts.error();
    wanted = {std::move(hosts).value(), "--hostfile"};
  }
  if (options.hosts.empty() && options.host_file.empty() && !options.lend.empty()) {
    std::uint32_t nodes = 1;
    if (!options.nodes.empty()) {
      auto asked = parse_nodes(options.nodes, node_limit());
      if (!asked) return asked.error();
      nodes = asked.value();
    }
    return Wanted{{{bootstrap::this_hosts_name(), nodes}}, "--lend"};
  }
  if (options.hosts.empty()) return wanted;
  auto listed = parse_host_list(options.hosts);
  if (!listed) return listed.error();
  for (const HostSlots& host : listed.value()) {
    bool known = std::any_of(wanted.hosts.begin(), wanted.hosts.end(),
                             [&](const HostSlots& other) { return other.name == host.name; });
    if (!options.host_file.empty() && !known) {
      return base::error("-H {}: {} is not in {}", options.hosts, host.name, options.host_file);
    }
  }
  return Wanted{std::move(listed).value(), "-H"};
}

std::string path_of_terrane(const RunOptions& options) {
  if (!options.prefix.empty()) return options.prefix + "/bin/terrane";
  char path[PATH_MAX];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "terrane";
}

// It is part of commands that a shell on another host reads.
bool is_plain_path(const std::string& path) {
  return path.find_first_of(" \t\n'\"\\$`;&|<>(){}*?[]!#~") == std::string::npos;
}

base::Result<std::uint32_t> count_nodes(const RunOptions& options, const Wanted& wanted) {
  bool several = !wanted.hosts.empty();
  NodeLimit limit = node_limit();
  if (several) limit = {bootstrap::kMaxJobNodes, "a fixed limit of terrane run"};
  if (!options.nodes.empty()) return parse_nodes(options.nodes, limit);
  return several ? std::min(total_slots(wanted.hosts), bootstrap::kMaxJobNodes) : 1;
}

base::Result<StartEngine> engine_named(const std::string& name) {
  for (const EngineName& one : kEngines) {
    if (name == one.name) return one.engine;
  }
  return base::error("--engine {}: there are auto, local, ssh, mpirun, prterun and srun", name);
}

void say_where(const JobPlan& plan, const std::string& engine, const std::string& why,
               std::vector<std::string>& notices) {
  notices.push_back(fmt::format("engine {}: {}", engine, why));
  const bootstrap::JobMap& map = plan.program.map;
  for (std::uint32_t host = 0; host < map.names.size(); ++host) {
    std::string nodes;
    for (std::uint32_t node = 0; node < map.nodes(); ++node) {
      if (map.host_of[node] == host) nodes += fmt::format(" {}", node);
    }
    bool own = static_cast<std::int32_t>(host) == plan.own_host;
    notices.push_back(
        fmt::format("host {}{}: nodes{}", map.names[host], own ? " (this one)" : "", nodes));
  }
}

base::Result<> set_remote(const RunOptions& options, JobPlan& plan) {
  plan.terrane = path_of_terrane(options);
  if (!is_plain_path(plan.terrane)) {
    return base::error(
        "the path {} holds characters that a shell on another host would change; "
        "install Terrane elsewhere, or name its folder there: --prefix FOLDER",
        plan.terrane);
  }
  const char* variable = std::getenv(kRshVariable);
  plan.rsh = !options.rsh.empty() ? options.rsh : variable ? variable : "";
  return {};
}

// Which engine, and why.
struct Choice {
  std::string name;
  std::string why;
};

// Without -H and --hostfile, the hosts of a Slurm allocation, or else those of the clusters, are
// added to `wanted`.
base::Result<Choice> choose_engine(const RunOptions& options, Wanted& wanted) {
  bool slurm = inside_slurm_allocation();
  if (wanted.source.empty() && slurm && (options.engine == "auto" || options.engine == "srun")) {
    auto hosts = slurm_hosts();
    if (!hosts) return hosts.error();
    wanted = {std::move(hosts).value(), "Slurm"};
  }
  if (wanted.source.empty() && !options.clusters.empty()) {
    auto clusters = parse_clusters(options.clusters);
    if (!clusters) return clusters.error();
    wanted = {hosts_of(clusters.value()), "--clusters"};
  }
  if (options.engine != "auto") return Choice{options.engine, "asked for"};
  if (wanted.source.empty()) return Choice{"local", "no other hosts were named"};
  if (slurm) return Choice{"srun", "this is a Slurm allocation"};
  return Choice{"ssh", "hosts were named by " + wanted.source};
}

void place(const RunOptions& options, const Wanted& wanted, std::uint32_t nodes, PlannedRun& run) {
  std::uint32_t slots = total_slots(wanted.hosts);
  if (nodes > slots) {
    run.notices.push_back(fmt::format(
        "{} nodes on {} slots of the hosts: some hosts get more than was said", nodes, slots));
  }
  JobPlan& plan = run.plan;
  plan.program.map =
      place_nodes(wanted.hosts, nodes, options.map_by == "node" ? MapBy::kNode : MapBy::kSlot);
  const auto& names = plan.program.map.names;
  auto own = std::find_if(names.begin(), names.end(), is_this_host);
  plan.own_host = own == names.end() ? -1 : static_cast<std::int32_t>(own - names.begin());
}

// The hosts of --lend come last, each with a node a slot, on which no thread of the program starts.
base::Result<> add_lenders(const RunOptions& options, JobPlan& plan) {
  if (!shares_program(options.preload))
    return base::error(
        "--lend {}: a program of terrane run has a process on every node, so none can lend memory "
        "alone; name the hosts with -H, or use terrane threads or terrane omp",
        options.lend);
  auto lenders = parse_host_list(options.lend, "--lend");
  if (!lenders) return lenders.error();
  bootstrap::JobMap& map = plan.program.map;
  for (const HostSlots& host : lenders.value()) {
    auto same = [&](const std::string& name) {
      return name == host.name || (is_this_host(name) && is_this_host(host.name));
    };
    if (std::any_of(map.names.begin(), map.names.end(), same))
      return base::error("--lend {}: {} runs nodes of the program already; name it once",
                         options.lend, host.name);
    map.names.push_back(host.name);
    map.host_of.insert(map.host_of.end(), host.slots,
                       static_cast<std::uint32_t>(map.names.size() - 1));
  }
  if (map.nodes() > bootstrap::kMaxJobNodes)
    return base::error("--lend {}: a job has at most {} nodes", options.lend,
                       bootstrap::kMaxJobNodes);
  return {};
}

}  // namespace

base::Result<> choose_hosts(const RunOptions& options, PlannedRun& run) {
  JobPlan& plan = run.plan;
  auto wanted = wanted_hosts(options);
  if (!wanted) return wanted.error();
  auto choice = choose_engine(options, wanted.value());
  if (!choice) return choice.error();
  auto engine = engine_named(choice.value().name);
  if (!engine) return engine.error();
  plan.engine = engine.value();
  auto nodes = count_nodes(options, wanted.value());
  if (!nodes) return nodes.error();
  if (wanted.value().hosts.empty()) {
    if (plan.engine != StartEngine::kLocal) {
      return base::error("--engine {}: name the hosts: -H a,b or --hostfile FILE", options.engine);
    }
    wanted.value().hosts = {{bootstrap::this_hosts_name(), nodes.value()}};
  }
  place(options, wanted.value(), nodes.value(), run);
  if (!options.lend.empty())
    if (auto added = add_lenders(options, plan); !added) return added;
  const auto& names = plan.program.map.names;
  if (names.size() == 1 && plan.own_host == 0 && plan.engine != StartEngine::kLocal) {
    choice = Choice{"local", "the only host is this one"};
    plan.engine = StartEngine::kLocal;
  }
  if (plan.engine == StartEngine::kLocal && (names.size() > 1 || plan.own_host != 0)) {
    return base::error("--engine local starts nodes on this host alone, not on {}; leave it out",
                       names[plan.own_host == 0 ? 1 : 0]);
  }
  if (options.verbose) say_where(plan, choice.value().name, choice.value().why, run.notices);
  if (plan.engine != StartEngine::kLocal) return set_remote(options, plan);
  return {};
}

}  // namespace terrane::tools
