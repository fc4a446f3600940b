#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/guests/secret_input.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/host/host_engine.h"
#include "tools/launch/ports.h"

namespace terrane::tools {
namespace {

int run(HostEngineOptions options, const std::string& gateways) {
  if (!gateways.empty()) {
    auto doors = parse_doors(gateways);
    if (!doors || options.host < 0) {
      base::log("--gateways {}: makes no sense; `terrane run` starts this command", gateways);
      return kExitUsage;
    }
    options.route.gateways = std::move(*doors);
  }
  if (!options.ports.empty()) ::setenv(kPortsVariable, options.ports.c_str(), 1);
  auto secret = take_secret(options.lifeline);
  if (!secret) {
    base::log(
        "the job's secret has not come over the standard input; `terrane run` starts this "
        "command, people do not");
    return kExitFailure;
  }
  return run_host_engine(options, *secret);
}

}  // namespace

void add_host_engine_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<HostEngineOptions>();
  CLI::App* command =
      app.add_subcommand("host-engine", "One host's part of a job; `terrane run` starts it");
  command->group("");  // not for people: hidden from the help
  command->add_option("--hub", options->hub_addresses, "Addresses of the hub")
      ->delimiter(',')
      ->required();
  command->add_option("--port", options->port, "Its port")->required();
  command->add_option("--ports", options->ports, "The ports that it may listen on");
  command->add_option("--index", options->host, "Which host of the job this is");
  command->add_option("--heartbeat-ms", options->heartbeat_ms, "The heartbeats' limit");
  command->add_option("--dial-ms", options->dial_timeout_ms, "How long to try to reach the hub");
  auto gateways = std::make_shared<std::string>();
  command->add_option("--gateways", *gateways, "Where the gateways of its cluster listen");
  command->add_option("--window", options->route.window, "Bytes that may be on their way");
  command->add_flag("--encrypt", options->route.encrypt, "Encrypt what passes to them");
  options->command_line = context.command_line;
  command->callback(
      [options, gateways, &context] { context.exit_code = run(*options, *gateways); });
}

}  // namespace terrane::tools
