#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/launch/plan.h"

namespace terrane::tools {

// The environment variable in which a host's engine gets the secret, where it cannot come over its
// standard input.
inline constexpr const char* kSecretVariable = "TERRANE_HOST_SECRET";

// The exit code of an agent whose own program could not be executed.
inline constexpr int kExitAgentMissing = 125;

// Where the hub listens.
struct HubAddress {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
};

// "ADDRESS,ADDRESS:PORT/...": doors of gateways on a command line. nullopt: it is not of this form.
std::string doors_text(const std::vector<bootstrap::GatewayDoor>& doors);
std::optional<std::vector<bootstrap::GatewayDoor>> parse_doors(const std::string& text);

// One command that starts engines on other hosts: an agent.
struct AgentCommand {
  std::vector<std::string> argv;
  std::vector<std::uint32_t> hosts;   // indices in the job's map
  std::string input;                  // for its standard input
  std::string gateway, gateway_host;  // where it starts a gateway: its name, and the host
  std::vector<std::pair<std::string, std::string>> environment;
};

// The commands that start the engines of `hosts` (indices in the plan's map, none of them this one)
// with the plan's engine. `doors_of`: of the gateways by which a host reaches the hub; none:
// directly.
using DoorsOf = std::function<std::vector<bootstrap::GatewayDoor>(std::uint32_t host)>;
std::vector<AgentCommand> agent_commands(const JobPlan& plan,
                                         const std::vector<std::uint32_t>& hosts,
                                         const HubAddress& hub, const std::string& secret,
                                         const DoorsOf& doors_of = {});
// The command that starts a gateway, which reaches the hub directly, or through gateways that
// listen at `via`. `window`: bytes of a pair of nodes that may be on their way.
AgentCommand gateway_command(const JobPlan& plan, const GatewayPlan& gateway, const HubAddress& hub,
                             const std::vector<bootstrap::GatewayDoor>& via, std::uint64_t window,
                             const std::string& secret);

// Cuts a command as a shell does without quotes: at blanks.
std::vector<std::string> split_words(const std::string& text);

// What the last words of an agent that failed to start its host mean: one sentence that names
// the host, the cause, and a command that mends it. `status`: its wait status; `said`: what it
// wrote.
std::string explain_agent(const JobPlan& plan, const AgentCommand& agent, int status,
                          const std::string& said);

// The last line of a text that has something in it.
std::string last_line(const std::string& text);

}  // namespace terrane::tools
