#include "tools/run_options.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "bootstrap/message.h"
#include "patch/locked_instruction.h"
#include "runtime/chunks/settings.h"
#include "runtime/trace/log_format.h"
#include "sim/campaign.h"
#include "tools/launch/gateways/cluster_paths.h"
#include "tools/launch/gateways/gateway_window.h"
#include "tools/launch/guests/invitation.h"
#include "tools/launch/guests/key_file.h"
#include "tools/launch/host/limits.h"
#include "tools/launch/ports.h"
#include "tools/run_debug.h"
#include "tools/run_hosts.h"
#include "tools/run_topology.h"
#include "transport/transport.h"

namespace terrane::tools {
namespace {

constexpr const char* kOwnVariables[] = {bootstrap::kSocketVariable, bootstrap::kNodeVariable,
                                         bootstrap::kNodesVariable, bootstrap::kJobVariable};

base::Result<> add_variable(const std::string& text, HostPlan& plan) {
  std::size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.empty()) return base::error("-x {}: give it as NAME or NAME=VALUE", text);
  for (const char* own : kOwnVariables) {
    if (name == own) return base::error("-x {}: terrane run itself sets {}", text, name);
  }
  const char* here = std::getenv(name.c_str());
  if (equals != std::string::npos) {
    plan.environment.emplace_back(name, text.substr(equals + 1));
  } else if (here) {
    plan.environment.emplace_back(name, here);
  } else {
    return base::error("-x {}: {} is not set here; give it a value: -x {}=VALUE", text, name, name);
  }
  return {};
}

constexpr std::string_view kForwarded[] = {"TERRANE_", "UCX_", "SHMEM_", "SMA_", "OMP_", "GOMP_"};

// What is set here for Terrane, UCX and OpenSHMEM holds on the other hosts, too.
void add_own_variables(HostPlan& plan) {
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text(*entry);
    std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = text.substr(0, equals);
    bool wanted = std::any_of(std::begin(kForwarded), std::end(kForwarded),
                              [name](std::string_view start) { return name.starts_with(start); });
    bool own = name == kRshVariable || std::find(std::begin(kOwnVariables), std::end(kOwnVariables),
                                                 name) != std::end(kOwnVariables);
    if (wanted && !own) plan.environment.emplace_back(name, text.substr(equals + 1));
  }
}

// Made here, so that what is wrong with it is reported before anything starts. On other hosts the
// nodes make it.
base::Result<std::string> report_folder(const std::string& folder) {
  std::error_code why;
  std::filesystem::create_directories(folder, why);
  if (why) return base::error("--report {}: {}", folder, why.message());
  for (const auto& file : std::filesystem::directory_iterator(folder, why))
    if (file.path().extension() == runtime::trace::kSuffix)
      return base::error("--report {}: another job's event logs are there; give another folder",
                         folder);
  if (why) return base::error("--report {}: {}", folder, why.message());
  if (::access(folder.c_str(), W_OK) != 0)
    return base::error("--report {}: {}; give a folder that can be written", folder,
                       std::strerror(errno));
  return std::filesystem::absolute(folder, why).string();
}

bool survives(const RunOptions& options) { return options.on_death == "survive"; }

// Nodes of --lend, which choose_hosts() has checked.
std::uint32_t count_lenders(const RunOptions& options) {
  return options.lend.empty() ? 0 : total_slots(parse_host_list(options.lend, "--lend").value());
}

// Threads of one node need nothing.
base::Result<> add_atomics_setting(const RunOptions& options, HostPlan& plan) {
  constexpr const char* kWays[] = {"", "patch", "relaxed", "trap", "refuse"};
  bool is_known = std::find(std::begin(kWays), std::end(kWays), options.atomics) != std::end(kWays);
  if (!is_known)
    return base::error("--atomics {}: must be patch, relaxed, trap or refuse", options.atomics);
  bool asks_for_service = !options.atomics.empty() && options.atomics != "refuse";
  if (asks_for_service && !patch::can_decode())
    return base::error(
        "--atomics {}: this Terrane was built without Zydis, which decodes instructions",
        options.atomics);
  // Also where nothing is served, since this job may be started by a program of another one.
  bool serves = serves_locked_code(options) && plan.map.started() > 1;
  std::string way = options.atomics.empty() ? "patch" : options.atomics;
  plan.environment.emplace_back("TERRANE_ATOMICS", serves ? way : "");
  bool has_flushes = serves && options.preload == Preload::kOmp;
  plan.environment.emplace_back("TERRANE_FENCES", has_flushes ? "1" : "");
  return {};
}

// A program's functions are found before it starts: what the loader would store later lies in
// memory that is shared. A thread may well wait for another as long as that computes.
base::Result<> add_threads_settings(const RunOptions& options, HostPlan& plan) {
  std::uint32_t places = 0;
  const std::string& text = options.placement;
  auto [at, wrong] = std::from_chars(text.data(), text.data() + text.size(), places);
  bool is_number = wrong == std::errc() && at == text.data() + text.size() && places > 0;
  if (text != "block" && text != "cyclic" && !is_number)
    return base::error("--placement {}: must be block, cyclic, or how many threads go to a node",
                       text);
  plan.environment.emplace_back("TERRANE_THREADS", "1");
  plan.environment.emplace_back("TERRANE_PLACEMENT", text);
  // Also 0, since this job may be started by a program of another one.
  plan.environment.emplace_back("TERRANE_LENDERS", std::to_string(count_lenders(options)));
  if (options.tag_output) plan.environment.emplace_back("TERRANE_TAG_OUTPUT", "1");
  plan.environment.emplace_back("LD_BIND_NOW", "terrane");
  if (options.patience.empty()) plan.environment.emplace_back("TERRANE_PATIENCE", "0");
  return add_atomics_setting(options, plan);
}

constexpr std::uint32_t kMostThreads = 1000;  // of a team of OpenMP

// A number of threads, alone, with blanks around it. Of a list, for nested regions, the first; the
// library reads all of it.
base::Result<> check_team(const std::string& what, const std::string& text) {
  constexpr const char* kBlanks = " \t\n\v\f\r";
  std::string first = text.substr(0, text.find(','));
  first.erase(first.find_last_not_of(kBlanks) + 1);
  first.erase(0, first.find_first_not_of(kBlanks));
  std::uint32_t threads = 0;
  auto [at, wrong] = std::from_chars(first.data(), first.data() + first.size(), threads);
  bool good = wrong == std::errc() && at == first.data() + first.size() && threads > 0 &&
              threads <= kMostThreads;
  if (!good)
    return base::error("{} {}: must be a number of threads from 1 to {}, such as {} 4", what, text,
                       kMostThreads, what);
  return {};
}

// OMP_NUM_THREADS is the whole team; --threads counts those of each node.
base::Result<> add_team_settings(const RunOptions& options, HostPlan& plan) {
  const char* set = std::getenv("OMP_NUM_THREADS");
  std::string team = set == nullptr ? "" : set;
  if (!options.threads.empty()) {
    if (auto checked = check_team("--threads", options.threads); !checked) return checked;
    team = std::to_string(std::strtoul(options.threads.c_str(), nullptr, 10) *
                          (plan.map.started() - count_lenders(options)));
  }
  if (team.find_first_not_of(" \t") == std::string::npos) return {};
  if (auto checked = check_team("OMP_NUM_THREADS", team); !checked) return checked;
  plan.environment.emplace_back("OMP_NUM_THREADS", team);
  return {};
}

base::Result<> add_check_settings(const RunOptions& options, HostPlan& plan) {
  bool reports = options.check.starts_with("races") || options.check == "sharing";
  for (auto [name, given] : {std::pair{"--check-output", !options.check_output.empty()},
                             std::pair{"--check-fails", options.check_fails}})
    if (given && !reports)
      return base::error("{}: it needs --check=races or --check=sharing", name);
  if (!reports) return {};
  bool sees_accesses = shares_program(options.preload) && serves_locked_code(options);
  if (options.check == "races=reads" && !sees_accesses)
    return base::error(
        "--check=races=reads: it needs terrane threads or terrane omp on x86-64, and instructions "
        "that may be replaced (--atomics); --check=races looks at writes alone");
  if (options.consistency == "sequential")
    return base::error(
        "--check={0}: with --consistency sequential no node has copies in which {0} would show; "
        "leave one of the two out",
        options.check);
  if (options.check_fails) plan.environment.emplace_back("TERRANE_CHECK_FAILS", "1");
  if (options.check_output.empty()) return {};
  std::error_code why;
  auto path = std::filesystem::absolute(options.check_output, why);
  std::ofstream file(path);
  if (!file)
    return base::error("--check-output {}: {}; give a file in a folder that can be written",
                       options.check_output, std::strerror(errno));
  plan.environment.emplace_back("TERRANE_CHECK_OUTPUT", path.string());
  return {};
}

base::Result<> add_settings(const RunOptions& options, HostPlan& plan) {
  if (!options.memory.empty()) {
    constexpr std::uint64_t kLeast = 256 << 10;
    auto bytes = size_bytes(options.memory);
    if (!bytes || *bytes < kLeast)
      return base::error("--memory {}: must be a size such as 512M or 4G, and 256K at least",
                         options.memory);
  }
  auto transports = transport::transport_names();
  bool known =
      options.transport.empty() || options.transport == "auto" ||
      std::find(transports.begin(), transports.end(), options.transport) != transports.end();
  if (!known)
    return base::error("--transport {}: there is no such transport; give auto or one of {}",
                       options.transport, fmt::join(transports, ", "));
  if (auto predicts = sim::check_prediction(options.predict); !predicts) return predicts;
  const std::string check = options.check == "pages" ? "" : options.check;
  if (auto races = add_check_settings(options, plan); !races) return races;
  const std::pair<const char*, const std::string&> settings[] = {
      {"TERRANE_FAULT_SOURCE", options.fault_source}, {"TERRANE_MEMORY", options.memory},
      {"TERRANE_TRANSPORT", options.transport},       {"TERRANE_NET", options.net},
      {"TERRANE_SERVERS", options.servers},           {"TERRANE_CHECK", check},
      {"TERRANE_PATIENCE", options.patience},         {"TERRANE_PREDICT", options.predict},
      {"TERRANE_CONSISTENCY", options.consistency}};
  for (const auto& [name, value] : settings) {
    if (!value.empty()) plan.environment.emplace_back(name, value);
  }
  if (!options.report.empty()) {
    auto folder = report_folder(options.report);
    if (!folder) return folder.error();
    plan.environment.emplace_back("TERRANE_REPORT", folder.value());
    auto now = std::chrono::system_clock::now().time_since_epoch().count();
    plan.environment.emplace_back(runtime::trace::kJobVariable,
                                  fmt::format("{:x}-{:x}", now, ::getpid()));
  }
  if (!options.report_every.empty()) {
    if (options.report.empty())
      return base::error("--report-every {}: there is no --report FOLDER", options.report_every);
    auto every = runtime::chunks::parse_report_every("--report-every", options.report_every);
    if (!every) return every.error();
    plan.environment.emplace_back("TERRANE_REPORT_EVERY", options.report_every);
  }
  if (shares_program(options.preload)) {
    if (auto added = add_threads_settings(options, plan); !added) return added;
  }
  if (options.preload == Preload::kOmp) {
    if (auto added = add_team_settings(options, plan); !added) return added;
  }
  if (options.verbose) plan.environment.emplace_back("TERRANE_VERBOSE", "1");
  if (options.stats) plan.environment.emplace_back("TERRANE_STATS", "1");
  if (survives(options)) plan.environment.emplace_back("TERRANE_ON_DEATH", options.on_death);
  for (const std::string& variable : options.variables) {
    if (auto added = add_variable(variable, plan); !added) return added;
  }
  return {};
}

// The launcher listens there, the engines of other hosts do, and UCX in the nodes.
base::Result<> add_ports(const RunOptions& options, JobPlan& plan) {
  const char* set = std::getenv(kPortsVariable);
  const std::string text = !options.ports.empty() || !set ? options.ports : set;
  if (text.empty()) return {};
  auto range = parse_ports(options.ports.empty() ? kPortsVariable : "--port", text);
  if (!range) return range.error();
  plan.ports = range.value().text();
  ::setenv(kPortsVariable, plan.ports.c_str(), 1);
  plan.program.environment.emplace_back(kPortsVariable, plan.ports);
  if (!std::getenv(kUcxPortsVariable))
    plan.program.environment.emplace_back(kUcxPortsVariable, plan.ports);
  return {};
}

base::Result<> add_times(const RunOptions& options, JobPlan& plan) {
  if (!options.timeout.empty()) {
    auto timeout = parse_seconds("--timeout", options.timeout);
    if (!timeout) return timeout.error();
    plan.timeout_ms = timeout.value();
  }
  if (!options.grace.empty()) {
    auto grace = parse_seconds("--grace", options.grace);
    if (!grace) return grace.error();
    plan.grace_ms = grace.value();
  } else if (shares_program(options.preload)) {
    plan.grace_ms = JobPlan::kNoGrace;
  }
  auto start = parse_seconds("--start-timeout", options.start_timeout);
  if (!start) return start.error();
  plan.start_timeout_ms = start.value();
  if (options.patience == "0") {
    plan.patience_ms = 0;
  } else if (!options.patience.empty()) {
    auto patience = parse_seconds("--patience", options.patience);
    if (!patience) return patience.error();
    plan.patience_ms = patience.value();
  }
  auto heartbeat = parse_heartbeat(options.heartbeat);
  if (!heartbeat) return heartbeat.error();
  plan.program.heartbeat_ms = heartbeat.value();
  auto death_after = parse_death_after("--death-after", options.death_after, heartbeat.value());
  if (!death_after) return death_after.error();
  plan.program.death_after_ms = death_after.value();
  return {};
}

// Programs of OpenSHMEM have few threads, all of which look for others' data: oshrun gives each PE
// processors of its own. What terrane run starts may have as many threads as the host has room for.
Binding binding_of(const RunOptions& options, const CommandContext& context) {
  std::string what = options.bind_to;
  if (what.empty()) what = context.run_name == "oshrun" ? "share" : "none";
  return what == "core" ? Binding::kCore : what == "share" ? Binding::kShare : Binding::kNone;
}

constexpr std::uint32_t kMostGuests = 512;

base::Result<> add_places_for_guests(const RunOptions& options, JobPlan& plan) {
  plan.program.job_name = options.name.empty() ? std::to_string(::getpid()) : options.name;
  if (!is_job_name(plan.program.job_name))
    return base::error("--name {}: at most 60 letters, digits, '-', '_' and '.'", options.name);
  if (options.guests.empty()) return {};
  std::uint32_t guests = 0;
  const char* end = options.guests.data() + options.guests.size();
  auto [at, wrong] = std::from_chars(options.guests.data(), end, guests);
  if (wrong != std::errc() || at != end || guests > kMostGuests)
    return base::error("--guests {}: must be a number from 0 to {}", options.guests, kMostGuests);
  if (plan.program.map.names.size() + guests > bootstrap::kMaxJobHosts ||
      plan.program.map.nodes() + guests > bootstrap::kMaxJobNodes)
    return base::error("--guests {}: too many beside the job's own nodes", options.guests);
  bootstrap::add_guests(plan.program.map, guests);
  return {};
}

// The folder that the nodes run in: on other hosts it goes by its path.
base::Result<> enter_folder(const RunOptions& options, HostPlan& plan) {
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) {
    return base::error("--wdir {}: {}", options.folder, std::strerror(errno));
  }
  char path[PATH_MAX];
  if (plan.map.names.size() > 1 || options.engine != "auto" || !options.hosts.empty() ||
      !options.topology_hosts.empty()) {
    if (::getcwd(path, sizeof path)) plan.folder = path;
  }
  return {};
}

base::Result<> add_clusters(const RunOptions& options, const TopologyFile& topology,
                            bootstrap::JobMap& map) {
  std::string environment = clusters_of_environment();
  bool named = !options.clusters.empty() || !environment.empty();
  if (!named) return form_clusters(topology.clusters, topology.links, map);
  auto clusters = options.clusters.empty() ? parse_clusters(environment, "TERRANE_CLUSTERS")
                                           : parse_clusters(options.clusters);
  if (!clusters) return clusters.error();
  return form_clusters(clusters.value(), {}, map);
}

// --encrypt without gateways: everything that passes between hosts goes through one of each.
base::Result<> encrypt_all(const RunOptions& options, const TopologyFile& topology, JobPlan& plan) {
  bootstrap::JobMap& map = plan.program.map;
  if (!options.clusters.empty() || !topology.clusters.empty())
    return base::error(
        "--encrypt: without gateways each host counts as a cluster; leave out --clusters and "
        "[[clusters]], or name a gateway for each: --gateways");
  if (plan.engine != StartEngine::kSsh)
    return base::error(
        "--encrypt: only hosts that are started by ssh are served; leave out --engine");
  if (map.names.size() > bootstrap::kMaxClusters)
    return base::error("--encrypt: a job of {} hosts is too large, at most {} are served",
                       map.names.size(), bootstrap::kMaxClusters);
  if (plan.own_host < 0)
    return base::error(
        "--encrypt: run the command on one of the job's hosts, so that its own connections do not "
        "leave the host; or name gateways: --gateways");
  if (!options.guests.empty())
    return base::error(
        "--encrypt: the connections of guests are not encrypted; leave out --guests");
  EncryptedHosts encrypted = encrypt_hosts(map.names);
  if (auto formed = form_clusters(encrypted.clusters, {}, map); !formed) return formed.error();
  auto gateways = form_gateways(encrypted.gateways, map);
  if (!gateways) return gateways.error();
  plan.gateways = std::move(gateways).value();
  return {};
}

base::Result<> add_gateways(const RunOptions& options, const TopologyFile& topology,
                            JobPlan& plan) {
  auto said =
      options.gateways.empty() ? base::Result(topology.gateways) : parse_gateways(options.gateways);
  if (!said) return said.error();
  auto formed = form_gateways(said.value(), plan.program.map);
  if (!formed) return formed.error();
  plan.gateways = std::move(formed).value();
  plan.encrypt = options.encrypt;
  if (!plan.gateways.empty() && plan.engine != StartEngine::kSsh)
    return base::error("--gateways: hosts beyond gateways are reached by ssh; leave out --engine");
  return {};
}

// How the job's hosts reach each other.
base::Result<> join_hosts(const RunOptions& options, const TopologyFile& topology, JobPlan& plan) {
  bool no_gateways = options.gateways.empty() && topology.gateways.empty();
  if (options.encrypt && no_gateways && plan.program.map.names.size() > 1) {
    if (auto encrypted = encrypt_all(options, topology, plan); !encrypted) return encrypted.error();
  } else {
    if (auto formed = add_clusters(options, topology, plan.program.map); !formed)
      return formed.error();
    if (auto added = add_gateways(options, topology, plan); !added) return added.error();
  }
  bool is_direct = options.transport != "" && options.transport != "auto" &&
                   options.transport != "mixed" && options.transport != "routed";
  if (!plan.gateways.empty() && is_direct)
    return base::error(
        "--transport {}: nodes of different {} reach each other through gateways alone; "
        "leave it out",
        options.transport, no_gateways ? "hosts" : "clusters");
  if (options.key.empty()) return {};
  auto secret = read_or_make_key(options.key);
  if (!secret) return secret.error();
  plan.secret = secret.value();
  return {};
}

// Where verbose: which clusters there are, and what is known of the network between them.
void say_clusters(const JobPlan& plan, std::vector<std::string>& notices) {
  for (std::string& line : describe_clusters(plan.program.map)) notices.push_back(std::move(line));
  for (const GatewayPlan& gateway : plan.gateways)
    notices.push_back(fmt::format(
        "gateway {} of cluster {}: {}", gateway.name, plan.program.map.clusters[gateway.cluster],
        gateway.host.empty() ? "started by hand" : "on host " + gateway.host));
  if (!plan.gateways.empty())
    notices.push_back(
        fmt::format("through gateways {:.1f} MB of each pair of nodes may be on their way",
                    static_cast<double>(gateway_window(plan)) / 1e6));
}

}  // namespace

base::Result<PlannedRun> plan_run(RunOptions options, const CommandContext& context) {
  PlannedRun run;
  JobPlan& plan = run.plan;
  auto topology = take_topology(options);
  if (!topology) return topology.error();
  if (auto chosen = choose_hosts(options, run); !chosen) return chosen.error();
  if (auto joined = join_hosts(options, topology.value(), plan); !joined) return joined.error();
  if (options.servers.empty()) {
    auto servers = servers_of(topology.value(), plan.program.map);
    if (!servers) return servers.error();
    options.servers = servers.value();
  }
  if (auto added = add_times(options, plan); !added) return added.error();
  if (auto added = add_ports(options, plan); !added) return added.error();
  if (plan.engine != StartEngine::kLocal) add_own_variables(plan.program);
  if (auto added = plan_debugging(options, plan); !added) return added.error();
  if (auto added = add_settings(options, plan.program); !added) return added.error();
  if (!options.memory.empty()) plan.memory_bytes = size_bytes(options.memory).value_or(0);
  if (options.verbose) say_clusters(plan, run.notices);
  if (context.program.empty()) {
    return base::error("no program given: {} -n {} PROGRAM [ARGUMENTS]", context.run_name,
                       plan.program.map.nodes());
  }
  if (auto entered = enter_folder(options, plan.program); !entered) return entered.error();
  if (auto added = add_places_for_guests(options, plan); !added) return added.error();
  plan.program.argv = context.program;
  plan.program.tag_output = options.tag_output;
  plan.program.binding = binding_of(options, context);
  plan.program.randomize = options.randomize;
  plan.program.verbose = options.verbose;
  plan.program.preload = options.preload;
  plan.verbose = options.verbose;
  plan.stats = options.stats;
  if (!options.metrics.empty()) {
    auto metrics = parse_metrics_address(options.metrics);
    if (!metrics) return metrics.error();
    plan.metrics = metrics.value();
  }
  plan.survive = survives(options);
  plan.command_line = context.command_line;
  return run;
}

bool serves_locked_code(const RunOptions& options) {
  return patch::can_decode() && !options.allow_inline_atomics && options.atomics != "refuse";
}

}  // namespace terrane::tools
