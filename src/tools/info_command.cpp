#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "bootstrap/this_host.h"
#include "platform/fault_source.h"
#include "tools/commands.h"
#include "tools/launch/limits.h"

namespace terrane::tools {
namespace {

void line(const char* name, const std::string& value) { fmt::print("{:<14} {}\n", name, value); }

// How accesses to shared memory can be detected here.
void fault_source_lines() {
  platform::FaultSourceSupport support = platform::probe_fault_sources();
  line("fault source", support.async_protect ? "uffd-async (default), uffd-sync, uffd-late, sigsegv"
                       : support.enter_protected ? "uffd-sync (default), uffd-late, sigsegv"
                       : support.userfaultfd     ? "uffd-late (default), sigsegv"
                                                 : "sigsegv (default): faults cost twice as much");
  if (!support.reason.empty()) line("", support.reason);
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
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("info", "Show the version and what this host offers");
  command->callback([&context] { context.exit_code = info(); });
}

}  // namespace terrane::tools
