#include <netdb.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/log.h"
#include "stream/socket_address.h"
#include "tools/commands.h"
#include "tools/gateway/gateway.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/guests/key_file.h"
#include "tools/launch/guests/secret_input.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/ports.h"

namespace terrane::tools {
namespace {

// The command line as it was written.
struct GatewayWords {
  GatewayOptions options;
  std::string hub, key, ports;
  std::vector<std::string> via;
  bool key_from_input = false;
};

// "HOST:PORT": all addresses of the host.
base::Result<bootstrap::GatewayDoor> look_up(const std::string& text) {
  bootstrap::GatewayDoor door;
  std::size_t colon = text.rfind(':');
  const char* end = text.data() + text.size();
  bool good = colon != std::string::npos && colon != 0;
  if (good) {
    auto [at, wrong] = std::from_chars(text.data() + colon + 1, end, door.port);
    good = wrong == std::errc() && at == end && door.port != 0;
  }
  if (!good) return base::error("--via {}: give it as HOST:PORT", text);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  std::string host = text.substr(0, colon);
  if (int wrong = ::getaddrinfo(host.c_str(), nullptr, &wanted, &all); wrong != 0)
    return base::error("--via {}: {}: {}", text, host, ::gai_strerror(wrong));
  for (const addrinfo* one = all; one != nullptr; one = one->ai_next) {
    sockaddr_storage address{};
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                reinterpret_cast<char*>(&address));
    door.addresses.push_back(stream::address_text(address));
  }
  ::freeaddrinfo(all);
  return door;
}

base::Result<> take_doors(GatewayWords& words) {
  if (!words.hub.empty()) {
    auto doors = parse_doors(words.hub);
    if (!doors) return base::error("--hub {}: makes no sense", words.hub);
    words.options.hub = std::move(*doors);
  }
  for (const std::string& text : words.via) {
    if (auto doors = parse_doors(text)) {
      for (auto& door : *doors) words.options.via.push_back(std::move(door));
      continue;
    }
    auto door = look_up(text);
    if (!door) return door.error();
    words.options.via.push_back(std::move(door).value());
  }
  if (words.options.hub.empty() && words.options.via.empty())
    return base::error("give a gateway of another cluster to dial: --via HOST:PORT");
  return {};
}

base::Result<stream::Secret> find_secret(GatewayWords& words) {
  if (!words.key_from_input) {
    if (words.key.empty())
      return base::error("give the job's key, a copy of the file of terrane run --key: --key FILE");
    return read_key(words.key);
  }
  auto secret = take_secret(words.options.lifeline);
  if (!secret) return base::error("the job's secret has not come over the standard input");
  return *secret;
}

int run(GatewayWords words) {
  if (!words.ports.empty()) {
    if (auto ports = parse_ports("--ports", words.ports); !ports) {
      base::log("{}; see: terrane gateway --help", ports.error().message);
      return kExitUsage;
    }
    ::setenv(kPortsVariable, words.ports.c_str(), 1);
  }
  auto doors = take_doors(words);
  if (!doors) {
    base::log("{}; see: terrane gateway --help", doors.error().message);
    return kExitUsage;
  }
  auto secret = find_secret(words);
  if (!secret) {
    base::log("{}; see: terrane gateway --help", secret.error().message);
    return kExitUsage;
  }
  return run_gateway(words.options, secret.value());
}

}  // namespace

void add_gateway_command(CLI::App& app, CommandContext& context) {
  auto words = std::make_shared<GatewayWords>();
  CLI::App* command = app.add_subcommand(
      "gateway", "Join a cluster to a job by hand, where terrane run cannot reach it");
  command->footer(
      "`terrane run` starts the gateways that it reaches by itself ([[gateways]] in the file of\n"
      "--topology). This command is for one behind a firewall: it dials out.\nMore: man "
      "terrane-gateway.");
  GatewayOptions& options = words->options;
  command->add_option("--name", options.name, "Its name, as the job's [[gateways]] say")
      ->required()
      ->type_name("NAME");
  command
      ->add_option("--via", words->via, "A gateway of another cluster that it dials; several times")
      ->type_name("HOST:PORT");
  command->add_option("--key", words->key, "The job's key: a copy of the file of terrane run --key")
      ->type_name("FILE");
  command
      ->add_option("--link-port", options.link_port,
                   "Where it listens for other gateways; default: any")
      ->type_name("PORT");
  command->add_option("--ports", words->ports, "The ports that it may listen on")
      ->type_name("LOW-HIGH");
  command->add_flag("--encrypt", options.encrypt, "As the job: encrypt inside of the cluster, too");
  command->add_option("--dial-ms", options.dial_timeout_ms, "How long to try")->group("");
  command->add_option("--heartbeat-ms", options.heartbeat_ms, "The heartbeats' limit")->group("");
  command->add_option("--death-after-ms", options.death_after_ms, "The same where a kernel answers")
      ->group("");
  command->add_option("--hub", words->hub, "Where the hub listens")->group("");
  command->add_option("--window", options.window, "Bytes that may be on their way")->group("");
  command->add_flag("--key-from-input", words->key_from_input, "The key comes on standard input")
      ->group("");
  command->callback([words, &context] { context.exit_code = run(*words); });
}

}  // namespace terrane::tools
