#include "tools/launch/host/agent_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <charconv>
#include <iterator>
#include <sstream>

#include "tools/launch/exit_codes.h"
#include "tools/launch/gateways/gateway_window.h"
#include "tools/launch/hub/death.h"

namespace terrane::tools {
namespace {

constexpr int kSshFailed = 255;

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Words engine_words(const JobPlan& plan, const HubAddress& hub) {
  Words words{plan.terrane,     "host-engine",
              "--hub",          fmt::format("{}", fmt::join(hub.addresses, ",")),
              "--port",         std::to_string(hub.port),
              "--heartbeat-ms", std::to_string(plan.program.heartbeat_ms),
              "--dial-ms",      std::to_string(plan.start_timeout_ms)};
  if (!plan.ports.empty()) append(words, {"--ports", plan.ports});
  return words;
}

Words names_of(const JobPlan& plan, const std::vector<std::uint32_t>& hosts, const char* suffix) {
  Words names;
  for (std::uint32_t host : hosts) names.push_back(plan.program.map.names[host] + suffix);
  return names;
}

// ssh, or another command that is used in the same way: HOST, then the words of the command. They
// hold nothing that a shell would change, so both a shell at the other end and an exec will do.
Words shell_words(const JobPlan& plan, const std::string& host) {
  Words words = split_words(plan.rsh);
  if (plan.rsh.empty()) {
    words = {"ssh",
             "-x",
             "-T",
             "-o",
             "BatchMode=yes",
             "-o",
             fmt::format("ConnectTimeout={}", (plan.start_timeout_ms + 999) / 1000)};
  }
  words.push_back(host);
  return words;
}

AgentCommand over_ssh(const JobPlan& plan, std::uint32_t host, const HubAddress& hub,
                      const std::string& secret, const DoorsOf& doors_of) {
  AgentCommand agent{.argv = shell_words(plan, plan.program.map.names[host]),
                     .hosts = {host},
                     .input = secret + "\n"};
  append(agent.argv, engine_words(plan, hub));
  append(agent.argv, {"--index", std::to_string(host)});
  auto doors = doors_of ? doors_of(host) : std::vector<bootstrap::GatewayDoor>();
  if (!doors.empty())
    append(agent.argv,
           {"--gateways", doors_text(doors), "--window", std::to_string(gateway_window(plan))});
  if (!doors.empty() && plan.encrypt) agent.argv.push_back("--encrypt");
  return agent;
}

// One process a host: Open MPI's mpirun (4) or PRRTE's prterun (Open MPI 5).
AgentCommand by_mpirun(const JobPlan& plan, const std::vector<std::uint32_t>& hosts,
                       const HubAddress& hub, const std::string& secret) {
  bool prte = plan.engine == StartEngine::kPrterun;
  AgentCommand agent{.hosts = hosts};
  std::string count = std::to_string(hosts.size());
  agent.argv = {prte ? "prterun" : "mpirun",
                "-H",
                fmt::format("{}", fmt::join(names_of(plan, hosts, ":1"), ",")),
                "--map-by",
                "ppr:1:node",
                "-np",
                count,
                "--bind-to",
                "none"};
  if (!plan.rsh.empty() && prte) {
    append(agent.argv, {"--prtemca", "plm_ssh_agent", plan.rsh});
  } else if (!plan.rsh.empty()) {
    append(agent.argv, {"--mca", "plm", "rsh", "--mca", "plm_rsh_agent", plan.rsh});
  }
  append(agent.argv, {"-x", kSecretVariable});
  append(agent.argv, engine_words(plan, hub));
  agent.environment = {{kSecretVariable, secret}};
  // Both refuse root otherwise; the user that runs us as root has decided that already.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    agent.environment.emplace_back(name, "1");
  }
  return agent;
}

// One task on each node of the allocation, beside whatever else runs in it.
AgentCommand by_srun(const JobPlan& plan, const std::vector<std::uint32_t>& hosts,
                     const HubAddress& hub, const std::string& secret) {
  AgentCommand agent{.hosts = hosts};
  agent.argv = {"srun",
                fmt::format("--nodes={}", hosts.size()),
                fmt::format("--ntasks={}", hosts.size()),
                "--ntasks-per-node=1",
                fmt::format("--nodelist={}", fmt::join(names_of(plan, hosts, ""), ",")),
                "--mpi=none",
                "--cpu-bind=none",
                "--overlap",
                "--export=ALL",
                "--kill-on-bad-exit=1",
                "--wait=0"};
  append(agent.argv, engine_words(plan, hub));
  agent.environment = {{kSecretVariable, secret}};
  return agent;
}

std::string ended_how(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by {}", signal_name(WTERMSIG(status)));
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string last_line(const std::string& text) {
  std::istringstream stream(text);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) last = line;
  }
  return last;
}

std::vector<AgentCommand> agent_commands(const JobPlan& plan,
                                         const std::vector<std::uint32_t>& hosts,
                                         const HubAddress& hub, const std::string& secret,
                                         const DoorsOf& doors_of) {
  switch (plan.engine) {
    case StartEngine::kMpirun:
    case StartEngine::kPrterun:
      return {by_mpirun(plan, hosts, hub, secret)};
    case StartEngine::kSrun:
      return {by_srun(plan, hosts, hub, secret)};
    case StartEngine::kForeign:
      return {};
    case StartEngine::kLocal:
    case StartEngine::kSsh:
      break;
  }
  std::vector<AgentCommand> agents;
  for (std::uint32_t host : hosts) agents.push_back(over_ssh(plan, host, hub, secret, doors_of));
  return agents;
}

std::string doors_text(const std::vector<bootstrap::GatewayDoor>& doors) {
  Words texts;
  for (const bootstrap::GatewayDoor& door : doors)
    texts.push_back(fmt::format("{}@{}", fmt::join(door.addresses, ","), door.port));
  return fmt::format("{}", fmt::join(texts, "/"));
}

std::optional<std::vector<bootstrap::GatewayDoor>> parse_doors(const std::string& text) {
  std::vector<bootstrap::GatewayDoor> doors;
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, '/');) {
    bootstrap::GatewayDoor& door = doors.emplace_back();
    std::size_t at = one.rfind('@');
    if (at == std::string::npos) return std::nullopt;
    std::istringstream addresses(one.substr(0, at));
    for (std::string address; std::getline(addresses, address, ',');)
      door.addresses.push_back(address);
    const char* end = one.data() + one.size();
    auto [stop, wrong] = std::from_chars(one.data() + at + 1, end, door.port);
    bool good = wrong == std::errc() && stop == end && door.port != 0 && !door.addresses.empty();
    if (!good) return std::nullopt;
  }
  return doors;
}

AgentCommand gateway_command(const JobPlan& plan, const GatewayPlan& gateway, const HubAddress& hub,
                             const std::vector<bootstrap::GatewayDoor>& via, std::uint64_t window,
                             const std::string& secret) {
  AgentCommand agent{.argv = shell_words(plan, gateway.host),
                     .input = secret + "\n",
                     .gateway = gateway.name,
                     .gateway_host = gateway.host};
  append(agent.argv, {plan.terrane, "gateway", "--name", gateway.name, "--key-from-input",
                      "--heartbeat-ms", std::to_string(plan.program.heartbeat_ms),
                      "--death-after-ms", std::to_string(plan.program.death_after_ms),
                      // So that the gateway says why before the job gives up.
                      "--dial-ms", std::to_string(plan.start_timeout_ms / 10 * 9), "--window",
                      std::to_string(window)});
  if (via.empty()) append(agent.argv, {"--hub", doors_text({{hub.addresses, hub.port}})});
  if (!via.empty()) append(agent.argv, {"--via", doors_text(via)});
  if (plan.encrypt) agent.argv.push_back("--encrypt");
  if (gateway.link_port != 0)
    append(agent.argv, {"--link-port", std::to_string(gateway.link_port)});
  if (!plan.ports.empty()) append(agent.argv, {"--ports", plan.ports});
  return agent;
}

std::string explain_agent(const JobPlan& plan, const AgentCommand& agent, int status,
                          const std::string& said) {
  std::string why = last_line(said);
  std::string names = fmt::format("{}", fmt::join(names_of(plan, agent.hosts, ""), ", "));
  std::string subject = agent.hosts.size() == 1 ? "host " + names : "hosts " + names;
  if (!agent.gateway.empty()) {
    names = agent.gateway_host;
    subject = fmt::format("gateway {} on host {}", agent.gateway, agent.gateway_host);
  }
  bool over_ssh = plan.engine == StartEngine::kSsh || plan.engine == StartEngine::kLocal;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code == kExitAgentMissing) {
    return fmt::format("cannot start {} on this host, which is to reach {} ({}); {}", agent.argv[0],
                       subject, why,
                       over_ssh ? "install it, or name another command: --rsh COMMAND"
                                : "install it, or choose another way: --engine ssh");
  }
  if (over_ssh && (code == kExitNotFound || code == kExitNotExecutable)) {
    return fmt::format(
        "{} has no command {} that can be executed ({}); install Terrane there, or name its folder "
        "on that host: --prefix FOLDER",
        subject, plan.terrane, why);
  }
  if (over_ssh && code == kExitUsage) {
    return fmt::format(
        "the command {} on {} is of another version ({}); install one version on all hosts, or "
        "name "
        "its folder there: --prefix FOLDER",
        plan.terrane, subject, why);
  }
  std::string reach = plan.rsh.empty() ? "ssh" : plan.rsh;
  if (over_ssh && (code == kSshFailed || WIFSIGNALED(status))) {
    return fmt::format("{} cannot be reached: {}; try: {} {} true", subject,
                       why.empty() ? fmt::format("{} {}", reach, ended_how(status)) : why, reach,
                       names);
  }
  return fmt::format("{} could not be started: {} {}{}{}", subject,
                     over_ssh ? reach : agent.argv[0], ended_how(status), why.empty() ? "" : ": ",
                     why);
}

}  // namespace terrane::tools
