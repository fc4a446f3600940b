#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "bootstrap/adoption.h"
#include "bootstrap/card.h"
#include "bootstrap/packet.h"
#include "tools/commands.h"
#include "tools/launch/job_engine.h"
#include "tools/launch/limits.h"

namespace terrane::tools {
namespace {

using base::UniqueFd;
using bootstrap::MessageKind;

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

  void answer(const base::Result<std::string>& hub) {
    MessageHeader header{.kind = hub ? MessageKind::kReady : MessageKind::kRefused};
    bootstrap::send_text(socket_.get(), header, hub ? hub.value() : hub.error().message, 0);
    socket_.reset();
  }

 private:
  using MessageHeader = bootstrap::MessageHeader;

  UniqueFd socket_;
  bootstrap::PacketReader reader_;
};

base::Result<JobPlan> make_plan(const bootstrap::AdoptionOrder& order) {
  JobPlan plan;
  plan.program.map = order.map;
  plan.program.host = order.host;
  const char* seconds = std::getenv("TERRANE_HEARTBEAT");
  auto heartbeat = parse_heartbeat(seconds ? seconds : "1");
  if (!heartbeat) return base::error("TERRANE_HEARTBEAT: {}", heartbeat.error().message);
  plan.program.heartbeat_ms = heartbeat.value();
  if (order.map.names.size() > 1) {
    return base::error("this version starts jobs by mpirun or srun on one host only");
  }
  return plan;
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
  auto plan = make_plan(order.value());
  if (!plan) {
    starter.answer(plan.error());
    return kExitFailure;
  }
  plan.value().command_line = context.command_line;
  return run_adopting_job(plan.value(), std::move(door),
                          [&](const base::Result<std::string>& hub) { starter.answer(hub); });
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
