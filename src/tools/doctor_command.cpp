#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/commands.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/print.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {

void add_doctor_command(CLI::App& app, CommandContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "Look for what would keep a job from running, or slow it down");
  command->add_flag("--json", *json, "For programs: one JSON object");
  command->footer(
      "Exit code: 0 when a job can run on this host, else 1.\nMore: man terrane-doctor.");
  command->callback([json, &context] {
    HostFacts facts = gather_facts();
    Findings findings = examine(facts);
    fmt::print("{}", *json ? as_json(facts.host, findings) : as_text(facts.host, findings));
    context.exit_code = healthy(findings) ? 0 : 1;
  });
}

}  // namespace terrane::tools
