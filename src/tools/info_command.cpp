#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "bootstrap/this_host.h"
#include "platform/fault_source.h"
#include "tools/commands.h"
#include "tools/doctor/gather.h"
#include "tools/launch/limits.h"
#include "transport/transport.h"

namespace terrane::tools {
namespace {

void line(const char* name, const std::string& value) { fmt::print("{:<14} {}\n", name, value); }

// How accesses to shared memory can be detected here, the best way first.
void fault_source_lines() {
  using enum platform::FaultSourceKind;
  platform::FaultSourceSupport support = platform::probe_fault_sources();
  const char* heading = "fault sources";
  const char* first = " (default)";
  for (auto [name, kind] :
       {std::pair{"uffd-async", kUserfaultfdAsync}, std::pair{"uffd-sync", kUserfaultfdSync},
        std::pair{"uffd-late", kUserfaultfdLate}, std::pair{"sigsegv", kSigsegv}}) {
    bool here = support.has(kind);
    line(heading, here ? fmt::format("{}{}", name, first) : fmt::format("not {}", name));
    heading = "";
    if (here) first = "";
  }
  if (!support.reason.empty()) line("", support.reason);
}

// The transports of this build, and what each is for.
void transport_lines() {
  const char* heading = "transports";
  for (std::string_view name : transport::transport_names()) {
    std::string_view what = name == "self"  ? ": a job of one node"
                            : name == "shm" ? ": the nodes of one host, by shared memory"
                            : name == "ucx" ? ": nodes on several hosts"
                                            : ": shm within a host, ucx between hosts";
    line(heading, fmt::format("{}{}", name, what));
    heading = "";
  }
  LibraryFacts ucx = gather_software().ucx;
  line("", ucx.found ? fmt::format("UCX {}", ucx.version)
                     : "UCX is not installed (Debian: apt-get install libucx0)");
  auto network = transport::describe_network();
  line("network", network ? network.value() : network.error().message);
}

int info() {
  utsname system{};
  ::uname(&system);
  NodeLimit limit = node_limit();
  line("version", TERRANE_VERSION);
  line("compiler", __VERSION__);
  line("host", bootstrap::this_hosts_name());
  line("kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  line("processors", std::to_string(std::thread::hardware_concurrency()));
  line("node limit", fmt::format("{} ({})", limit.nodes, limit.reason));
  fault_source_lines();
  transport_lines();
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("info", "Show the version and what this host offers");
  command->callback([&context] { context.exit_code = info(); });
}

}  // namespace terrane::tools
