#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include "base/log.h"
#include "bootstrap/adoption.h"
#include "bootstrap/card.h"
#include "bootstrap/packet.h"
#include "tools/commands.h"
#include "tools/launch/gateways/topology_file.h"
#include "tools/launch/host/host_engine.h"
#include "tools/launch/host/limits.h"
#include "tools/launch/hub/job_engine.h"

namespace terrane::tools {
namespace {

using base::UniqueFd;
using bootstrap::MessageKind;

// "ADDRESS,ADDRESS,... PORT", as nodes tell it each other.
std::string text_of(const HubAddress& hub) {
  return fmt::format("{} {}", fmt::join(hub.addresses, ","), hub.port);
}

std::optional<HubAddress> hub_of(const std::string& text) {
  std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  HubAddress hub{.port = static_cast<std::uint16_t>(std::atoi(text.c_str() + blank + 1))};
  std::istringstream addresses(text.substr(0, blank));
  for (std::string one; std::getline(addresses, one, ',');) hub.addresses.push_back(one);
  if (hub.addresses.empty() || hub.port == 0) return std::nullopt;
  return hub;
}

// The node that started this process, at the other end of standard input.
class Starter {
 public:
  Starter() : socket_(::dup(STDIN_FILENO)) {}

  pid_t pid() const {
    ucred who{};
    socklen_t size = sizeof who;
    bool known = ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    return known ? who.pid : 0;
  }

  // Blocks until the whole order is here.
  base::Result<bootstrap::AdoptionOrder> order(UniqueFd& door) {
    bootstrap::Card card;
    while (!card.complete()) {
      bool fits = reader_.receive(socket_.get(), 0) == bootstrap::PacketStatus::kDone &&
                  reader_.header().kind == MessageKind::kAdopt && card.add(reader_);
      if (!fits) {
        return base::error(
            "terrane adopt is started by the nodes of a job that mpirun or srun runs, not by hand");
      }
    }
    auto order = bootstrap::decode_order(card.bytes);
    if (!order || card.fds.size() != 1) {
      return base::error("the order of the node that started `terrane adopt` makes no sense");
    }
    door = std::move(card.fds.front());
    return *std::move(order);
  }

  void answer(const base::Result<HubAddress>& hub) {
    MessageHeader header{.kind = hub ? MessageKind::kReady : MessageKind::kRefused};
    bootstrap::send_text(socket_.get(), header, hub ? text_of(hub.value()) : hub.error().message,
                         0);
    socket_.reset();
  }

 private:
  using MessageHeader = bootstrap::MessageHeader;

  UniqueFd socket_;
  bootstrap::PacketReader reader_;
};

// What are options of `terrane run`.
struct Times {
  std::uint64_t heartbeat_ms, death_after_ms;
};

base::Result<Times> times_from_environment() {
  const char* seconds = std::getenv("TERRANE_HEARTBEAT");
  auto heartbeat = parse_heartbeat(seconds ? seconds : "1");
  if (!heartbeat) return base::error("TERRANE_HEARTBEAT: {}", heartbeat.error().message);
  const char* late = std::getenv("TERRANE_DEATH_AFTER");
  auto death_after = parse_death_after("TERRANE_DEATH_AFTER", late ? late : "", heartbeat.value());
  if (!death_after) return death_after.error();
  return Times{heartbeat.value(), death_after.value()};
}

// What are the options --clusters and --topology of `terrane run`; of the file, clusters and links.
base::Result<> take_clusters(bootstrap::JobMap& map) {
  const char* file = std::getenv("TERRANE_TOPOLOGY");
  if (std::string text = clusters_of_environment(); !text.empty()) {
    auto clusters = parse_clusters(text, "TERRANE_CLUSTERS");
    return clusters ? form_clusters(clusters.value(), {}, map) : clusters.error();
  }
  if (file == nullptr || *file == '\0') return {};
  auto topology = read_topology(file, "TERRANE_TOPOLOGY=");
  if (!topology) return topology.error();
  const TopologyFile& said = topology.value();
  if (!said.gateways.empty())
    return base::error(
        "TERRANE_TOPOLOGY={}: mpirun and srun start no gateways; start the job with `terrane run "
        "--topology {}`, or leave out [[gateways]]",
        file, file);
  return form_clusters(said.clusters, said.links, map);
}

// The engine of node 0's host, which decides about the job and is the hub of the other hosts.
int lead(const bootstrap::AdoptionOrder& order, Times times, DoorPlan door,
         const AdoptionAnswer& answer, CommandContext& context) {
  JobPlan plan;
  plan.program.map = order.map;
  if (auto taken = take_clusters(plan.program.map); !taken) {
    answer(taken.error());
    return kExitFailure;
  }
  plan.program.heartbeat_ms = times.heartbeat_ms;
  plan.program.death_after_ms = times.death_after_ms;
  plan.own_host = static_cast<std::int32_t>(order.host);
  plan.engine = StartEngine::kForeign;
  plan.secret = stream::Secret::parse(bootstrap::to_text(order.secret));
  plan.command_line = context.command_line;
  return run_adopting_job(plan, std::move(door), answer);
}

// The engine of another host.
int follow(const bootstrap::AdoptionOrder& order, Times times, DoorPlan door,
           const AdoptionAnswer& answer, CommandContext& context) {
  auto hub = hub_of(order.hub);
  auto secret = stream::Secret::parse(bootstrap::to_text(order.secret));
  if (!hub || !secret) {
    answer(base::error("\"{}\" does not say where the job's hub is", order.hub));
    return kExitFailure;
  }
  HostEngineOptions options{.hub_addresses = hub->addresses,
                            .port = hub->port,
                            .host = static_cast<std::int32_t>(order.host),
                            .heartbeat_ms = times.heartbeat_ms,
                            .command_line = context.command_line};
  return run_adopting_host_engine(options, *secret, std::move(door), answer);
}

int adopt(CommandContext& context) {
  Starter starter;
  DoorPlan door{.opener = starter.pid()};
  auto order = starter.order(door.door);
  if (!order) {
    base::log("{}", order.error().message);
    return kExitUsage;
  }
  door.secret = order.value().secret;
  auto times = times_from_environment();
  if (!times) {
    starter.answer(times.error());
    return kExitFailure;
  }
  auto play = order.value().host == order.value().map.host_of[0] ? lead : follow;
  return play(
      order.value(), times.value(), std::move(door),
      [&starter](const base::Result<HubAddress>& hub) { starter.answer(hub); }, context);
}

}  // namespace

void add_adopt_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("adopt", "Take in nodes that another launcher started");
  command->group("");  // for nodes, not for people
  command->callback([&context] {
    // The node that started us waits for the process that it knows; we are nobody's child.
    if (pid_t child = ::fork(); child != 0) ::_exit(child < 0 ? kExitFailure : 0);
    context.exit_code = adopt(context);
  });
}

}  // namespace terrane::tools
