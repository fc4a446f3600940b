#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "bootstrap/this_host.h"
#include "tools/commands.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/print.h"
#include "tools/doctor/rooms.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

void print_room() {
  fmt::print("{} {}\n", bootstrap::this_hosts_name(), gather_memory().job_bytes.value_or(0));
}

int print_rooms(const std::string& hosts, bool json) {
  auto rooms = rooms_of(hosts, std::filesystem::read_symlink("/proc/self/exe").string());
  if (!rooms) {
    fmt::print(stderr, "terrane: {}\n", rooms.error().message);
    return 1;
  }
  Findings findings{rooms.value()};
  fmt::print("{}", json ? as_json(hosts, findings) : rooms.value().text + "\n");
  return 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandContext& context) {
  auto json = std::make_shared<bool>(false), room = std::make_shared<bool>(false);
  auto hosts = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("doctor", "Look for what would keep a job from running, or slow it down");
  command->add_flag("--json", *json, "For programs: one JSON object");
  command->add_option("-H,--hosts", *hosts,
                      "Say how much memory a job on these hosts could hold: h0,h1");
  command->add_flag("--room", *room)->group("");  // for the command that asks other hosts
  command->footer(
      "Exit code: 0 when a job can run on this host, else 1.\nMore: man terrane-doctor.");
  command->callback([json, room, hosts, &context] {
    if (*room) return print_room();
    if (!hosts->empty()) {
      context.exit_code = print_rooms(*hosts, *json);
      return;
    }
    HostFacts facts = gather_facts();
    Findings findings = examine(facts);
    fmt::print("{}", *json ? as_json(facts.host, findings) : as_text(facts.host, findings));
    context.exit_code = healthy(findings) ? 0 : 1;
  });
}

}  // namespace terrane::tools
