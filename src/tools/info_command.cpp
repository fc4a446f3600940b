#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "bootstrap/this_host.h"
#include "platform/fault_source.h"
#include "tools/commands.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/rooms.h"
#include "tools/json_text.h"
#include "tools/launch/host/limits.h"
#include "transport/transport.h"

namespace terrane::tools {
namespace {

struct FaultSource {
  const char* name;
  bool offered = false;
};

struct Transport {
  std::string name;
  const char* use;
};

// What this host offers to jobs.
struct HostInfo {
  std::string host, kernel;
  unsigned processors = 0;
  NodeLimit limit;
  std::vector<FaultSource> fault_sources;  // the best first
  std::string fault_source_reason;         // why not all of them; may be empty
  std::vector<Transport> transports;
  LibraryFacts ucx;
  Limit job_bytes;          // that a job could hold here
  std::string large_pages;  // the machine's setting for shared memory; empty: not known
  std::string network;
};

std::vector<FaultSource> fault_sources(const platform::FaultSourceSupport& support) {
  using enum platform::FaultSourceKind;
  return {{"uffd-async", support.has(kUserfaultfdAsync)},
          {"uffd-sync", support.has(kUserfaultfdSync)},
          {"uffd-late", support.has(kUserfaultfdLate)},
          {"sigsegv", support.has(kSigsegv)}};
}

std::vector<Transport> transports() {
  std::vector<Transport> all;
  for (std::string_view name : transport::transport_names()) {
    all.push_back({std::string(name), name == "self"  ? "a job of one node"
                                      : name == "shm" ? "the nodes of one host, by shared memory"
                                      : name == "ucx" ? "nodes on several hosts"
                                                      : "shm within a host, ucx between hosts"});
  }
  return all;
}

HostInfo gather_info() {
  utsname system{};
  ::uname(&system);
  platform::FaultSourceSupport support = platform::probe_fault_sources();
  MemoryFacts memory = gather_memory();
  auto network = transport::describe_network();
  return {.host = bootstrap::this_hosts_name(),
          .kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine),
          .processors = std::thread::hardware_concurrency(),
          .limit = node_limit(),
          .fault_sources = fault_sources(support),
          .fault_source_reason = support.reason,
          .transports = transports(),
          .ucx = gather_software().ucx,
          .job_bytes = memory.job_bytes,
          .large_pages = memory.huge_shared_pages,
          .network = network ? network.value() : network.error().message};
}

void line(const char* name, const std::string& value) { fmt::print("{:<14} {}\n", name, value); }

void print_text(const HostInfo& info) {
  line("version", TERRANE_VERSION);
  line("compiler", __VERSION__);
  line("host", info.host);
  line("kernel", info.kernel);
  line("processors", std::to_string(info.processors));
  line("node limit", fmt::format("{} ({})", info.limit.nodes, info.limit.reason));
  if (info.job_bytes)
    line("memory", fmt::format("a job could hold {} here; on several hosts: terrane doctor -H",
                               size_text(*info.job_bytes)));
  const char* heading = "fault sources";
  const char* first = " (default)";
  for (const FaultSource& source : info.fault_sources) {
    line(heading, source.offered ? fmt::format("{}{}", source.name, first)
                                 : fmt::format("not {}", source.name));
    heading = "";
    if (source.offered) first = "";
  }
  if (!info.fault_source_reason.empty()) line("", info.fault_source_reason);
  if (!info.large_pages.empty())
    line("large pages",
         fmt::format("of shared memory: {} (terrane doctor says what it means)", info.large_pages));
  heading = "transports";
  for (const Transport& transport : info.transports) {
    line(heading, fmt::format("{}: {}", transport.name, transport.use));
    heading = "";
  }
  line("", info.ucx.found ? fmt::format("UCX {}", info.ucx.version)
                          : "UCX is not installed (Debian: apt-get install libucx0)");
  line("network", info.network);
}

void print_json(const HostInfo& info) {
  std::vector<std::string> sources, names;
  for (const FaultSource& source : info.fault_sources)
    if (source.offered) sources.push_back(json_text(source.name));
  for (const Transport& transport : info.transports) names.push_back(json_text(transport.name));
  fmt::print(
      "{{\"version\": {}, \"compiler\": {}, \"host\": {}, \"kernel\": {}, \"processors\": {},\n"
      " \"node_limit\": {}, \"node_limit_reason\": {}, \"job_memory\": {},\n \"fault_sources\": "
      "[{}],\n"
      " \"transports\": [{}], \"ucx\": {}, \"large_pages\": {}, \"network\": {}}}\n",
      json_text(TERRANE_VERSION), json_text(__VERSION__), json_text(info.host),
      json_text(info.kernel), info.processors, info.limit.nodes, json_text(info.limit.reason),
      info.job_bytes ? std::to_string(*info.job_bytes) : "null", fmt::join(sources, ", "),
      fmt::join(names, ", "), info.ucx.found ? json_text(info.ucx.version) : "null",
      json_text(info.large_pages), json_text(info.network));
}

}  // namespace

void add_info_command(CLI::App& app, CommandContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("info", "Show the version and what this host offers");
  command->add_flag("--json", *json, "For programs: one JSON object");
  command->callback([json, &context] {
    HostInfo info = gather_info();
    *json ? print_json(info) : print_text(info);
    context.exit_code = 0;
  });
}

}  // namespace terrane::tools
