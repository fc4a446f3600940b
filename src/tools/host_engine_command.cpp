#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/launch/agent_command.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host_engine.h"
#include "tools/launch/ports.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxLine = 256;
constexpr int kInputTimeoutMs = 30'000;

// The first line of the standard input, without its end; what comes after it is not read.
std::string read_line() {
  std::string line;
  for (char c = 0; line.size() < kMaxLine;) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (::poll(&ready, 1, kInputTimeoutMs) <= 0 || ::read(STDIN_FILENO, &c, 1) != 1) break;
    if (c == '\n') break;
    if (c != '\r') line += c;
  }
  return line;
}

// From the environment, which nodes shall not inherit, or the standard input, which then stays open
// as long as the process that started us.
std::optional<stream::Secret> take_secret(int& lifeline) {
  if (const char* text = std::getenv(kSecretVariable)) {
    auto secret = stream::Secret::parse(text);
    ::unsetenv(kSecretVariable);
    return secret;
  }
  lifeline = STDIN_FILENO;
  return stream::Secret::parse(read_line());
}

int run(HostEngineOptions options) {
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
  options->command_line = context.command_line;
  command->callback([options, &context] { context.exit_code = run(*options); });
}

}  // namespace terrane::tools
