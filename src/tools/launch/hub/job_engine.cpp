#include "tools/launch/hub/job_engine.h"

#include <sys/epoll.h>

#include <memory>
#include <optional>

#include "base/log.h"
#include "tools/launch/guests/invitation.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/forwarded_signals.h"
#include "tools/launch/host/guard.h"
#include "tools/launch/host/guard_link.h"
#include "tools/launch/host/host_part.h"
#include "tools/launch/host/process_tree.h"
#include "tools/launch/hub/hub.h"
#include "tools/launch/hub/job.h"
#include "tools/launch/output/debug_terminals.h"
#include "tools/launch/watch/job_watch.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kPatienceMs = 2000;

// The engine below the process that the user started: decides about the job, runs this host's part
// of it, and is the hub of the other hosts. Owns all three.
class JobEngine final : HostListener, JobOutlet {
 public:
  // `door`: where another launcher starts the nodes; else nullptr.
  JobEngine(const JobPlan& plan, Loop& loop, EngineSide side, DoorPlan* door)
      : plan_(plan),
        inheritance_(*side.inheritance),
        input_(std::move(side.input)),
        loop_(loop),
        children_(loop),
        guard_(loop, std::move(side.guard), plan.program.heartbeat_ms,
               {.on_signal = [this](int signal) { on_signal(signal); },
                .on_gone = [this] { guard_gone(); },
                .on_stopped = [this] { guard_stopped(); }}),
        job_(plan_, loop, *this),
        terminals_(
            plan_, children_, inheritance_, [this](NodeId node) { return job_.has_joined(node); },
            [this](const std::string& sentence) { job_.fail(kExitFailure, sentence); }),
        watch_(plan_, loop, *this),
        door_(door) {}

  base::Result<> start() {
    if (auto opened = children_.open(); !opened) return opened;
    if (auto opened = guard_.open(); !opened) return opened;
    if (auto opened = watch_.open(); !opened) return opened;
    if (plan_.metrics.is_set) say("metrics: " + watch_.metrics_url());
    std::vector<std::uint32_t> others;
    const bootstrap::JobMap& map = plan_.program.map;
    for (std::uint32_t host = 0; host < map.started_hosts(); ++host) {
      if (static_cast<std::int32_t>(host) != plan_.own_host) others.push_back(host);
    }
    bool alone = others.empty() && map.guests == 0;
    return alone ? start_nodes() : start_hub(std::move(others));
  }

  // After start(): where other hosts reach the hub; none where there are none.
  HubAddress hub_address() const { return hub_ ? hub_->address() : HubAddress(); }

  int run() {
    while (!job_.ended()) loop_.turn();
    watch_.close();
    if (invitations_) invitations_->close();
    if (hub_) {
      hub_->close();
      while (!hub_->finished()) loop_.turn();
    }
    return job_.exit_code();
  }

 private:
  base::Result<> start_hub(std::vector<std::uint32_t> others) {
    hub_.emplace(
        plan_, std::move(others), plan_.own_host, loop_, children_, inheritance_,
        Hub::Handlers{
            .on_all_present = [this] { on_all_present(); },
            .on_start_failed =
                [this](const std::string& sentence) { abort_start(kExitFailure, sentence); },
            .on_output_failed =
                [this](const std::string& sentence) { job_.fail(kExitOutput, sentence); },
            .on_event = [this](std::uint32_t host,
                               const HostEvent& event) { return take_event(host, event); },
            .on_lost = [this](std::uint32_t host, Death cause) { on_lost(host, std::move(cause)); },
            .on_divided =
                [this](const std::string& sentence) { job_.fail(kExitFailure, sentence); },
            .on_notice = [this](const std::string& line) { say(line); },
            .on_joining = [this](std::uint32_t host,
                                 const std::string& name) { return take_guest(host, name); }});
    if (auto started = hub_->start(); !started) return started;
    if (plan_.program.map.guests > 0) {
      if (auto opened = open_to_guests(); !opened) return opened;
    }
    return door_ ? wait_at_door() : base::Result<>();
  }

  base::Result<> open_to_guests() {
    invitations_.emplace(loop_, Invitation{.job = plan_.program.job_name,
                                           .hub = hub_->address(),
                                           .secret = hub_->secret(),
                                           .heartbeat_ms = plan_.program.heartbeat_ms});
    auto opened = invitations_->open();
    if (!opened) abort_start(kExitUsage, opened.error().message);
    if (opened && plan_.verbose)
      say(fmt::format("this job takes {} guests: terrane join {} PROGRAM", plan_.program.map.guests,
                      plan_.program.job_name));
    return opened;
  }

  // "": it may join, and takes part as this host.
  std::string take_guest(std::uint32_t host, const std::string& name) {
    std::string objection = job_.objection();
    if (!objection.empty()) return objection;
    plan_.program.map.names[host] = name.substr(0, bootstrap::kMaxHostName);
    job_.guest_came(host);
    return "";
  }

  // Nobody knows when the nodes come to join. Once one of this host does, all know
  // where the hub is, and the other hosts' engines cannot be far.
  base::Result<> wait_at_door() {
    opener_.reset(open_pidfd(door_->opener));
    bool watched = opener_ && loop_.watch(opener_.get(), EPOLLIN, [this](std::uint32_t) {
      loop_.forget(opener_.get());
      abort_start(kExitFailure,
                  fmt::format("process {} of the job ended before all had joined", door_->opener));
    });
    watched = watched && loop_.watch(door_->door.get(), EPOLLIN, [this](std::uint32_t) {
      loop_.forget(door_->door.get());
      hub_->limit_start();
    });
    if (!watched) return base::errno_error("cannot watch the door of this host");
    return {};
  }

  // The part of this host, where it has one.
  base::Result<> start_nodes() {
    job_.started();
    if (plan_.own_host < 0) return {};
    own_plan_ = plan_.program;
    own_plan_.host = static_cast<std::uint32_t>(plan_.own_host);
    if (hub_) own_plan_.map.routes = hub_->routes_of(own_plan_.host);
    HostSurroundings around{.loop = &loop_,
                            .children = &children_,
                            .listener = this,
                            .inheritance = &inheritance_,
                            .guard = guard_.socket(),
                            .door = door_};
    around.spared = [this] { return hub_ ? hub_->processes() : std::vector<pid_t>(); };
    part_.emplace(own_plan_, std::move(around));
    bool has_node0 = plan_.program.map.host_of[0] == own_plan_.host;
    return part_->start(has_node0 ? std::move(input_) : base::UniqueFd());
  }

  void on_all_present() {
    starting_ = false;
    if (opener_) {
      loop_.forget(opener_.get());
      loop_.forget(door_->door.get());
      opener_.reset();
    }
    hub_->send_plans();
    if (auto started = start_nodes(); !started) {
      job_.fail(kExitFailure, started.error().message);
      part_->kill_now();
    }
    if (input_) hub_->carry_input(std::move(input_));
  }

  // While hosts are started there is nothing of the job anywhere: they go when the hub does.
  void abort_start(int exit_code, const std::string& sentence) {
    if (!std::exchange(starting_, false)) return;
    job_.fail(exit_code, sentence);
    for (std::uint32_t host = 0; host < plan_.program.map.names.size(); ++host) {
      job_.host_lost(host, {});
    }
  }

  void on_lost(std::uint32_t host, Death cause) {
    if (static_cast<std::int32_t>(host) != plan_.own_host) {
      watch_.lose(host);
      return job_.host_lost(host, std::move(cause));
    }
    for (std::uint32_t node = 0; node < own_plan_.map.nodes(); ++node) {
      if (own_plan_.map.host_of[node] != host) continue;
      cause.node = NodeId{node};  // this host's nodes can still be ended in order
      job_.on_event(host, event::NodeDied{cause});
      return;
    }
  }

  void on_signal(int signal) {
    if (starting_ && hub_ && ends_a_job(signal)) {
      return abort_start(kExitSignalBase + signal,
                         fmt::format("the job was ended by {} while its hosts were being started",
                                     signal_name(signal)));
    }
    job_.on_signal(signal);
    if (job_.all_nodes_ended() && ends_a_job(signal) && hub_) hub_->drop_output();
  }

  void guard_gone() {
    job_.kill(kExitFailure);
    if (hub_) {
      hub_->drop_output();
      hub_->close();  // other hosts' engines end their parts when they are alone
      for (std::uint32_t host = 0; host < plan_.program.map.names.size(); ++host) {
        bool runs_here = part_ && static_cast<std::int32_t>(host) == plan_.own_host;
        if (!runs_here) job_.host_lost(host, {});
      }
    }
  }

  void guard_stopped() {
    job_.fail(kExitFailure,
              fmt::format("`terrane run` has been stopped for {:.1f} s; the job is being ended",
                          static_cast<double>(plan_.program.heartbeat_ms) / 1000));
  }

  bool take_event(std::uint32_t host, const HostEvent& event) {
    bool makes_sense = job_.on_event(host, event);
    if (makes_sense) watch_.take(event);
    const auto* started = std::get_if<event::NodeStarted>(&event);
    if (makes_sense && started && !plan_.terminal.empty()) {
      terminals_.open(started->node, host, started->pid);
    }
    return makes_sense;
  }

  void on_event(std::uint32_t host, HostEvent event) override { take_event(host, event); }
  void tell(std::uint32_t host, const HostCommand& command) override {
    if (static_cast<std::int32_t>(host) != plan_.own_host) {
      hub_->tell(host, command);
    } else if (part_) {
      part_->act(command);
    }
  }
  void say(const std::string& line) override { base::log_line(line); }

  JobPlan plan_;  // the names of guests' hosts come as they do
  const Inheritance& inheritance_;
  base::UniqueFd input_;
  Loop& loop_;
  Children children_;
  GuardLink guard_;
  Job job_;
  DebugTerminals terminals_;
  JobWatch watch_;
  std::optional<Hub> hub_;                     // where there are other hosts, or may be
  std::optional<InvitationDoor> invitations_;  // where guests may come
  HostPlan own_plan_;
  std::optional<HostPart> part_;
  bool starting_ = true;  // hosts are still expected
  DoorPlan* door_;
  base::UniqueFd opener_;  // pidfd, while hosts are still expected
};

int run_engine(const JobPlan& plan, EngineSide side, DoorPlan* door, const AdoptionAnswer& answer) {
  auto loop = Loop::create();
  if (!loop) {
    answer(loop.error());
    return kExitFailure;
  }
  JobEngine engine(plan, *loop.value(), std::move(side), door);
  if (auto started = engine.start(); !started) {
    answer(started.error());
    kill_all_descendants(kPatienceMs);
    return kExitFailure;
  }
  answer(engine.hub_address());
  return engine.run();
}

}  // namespace

int run_job(const JobPlan& plan) {
  GuardOptions options{.command_line = plan.command_line,
                       .heartbeat_ms = plan.program.heartbeat_ms};
  return run_guarded(options, [&plan](EngineSide side) {
    return run_engine(plan, std::move(side), nullptr, [](const base::Result<HubAddress>& started) {
      if (!started) base::log_line(started.error().message);
    });
  });
}

int run_adopting_job(const JobPlan& plan, DoorPlan door, const AdoptionAnswer& answer) {
  GuardOptions options{.command_line = plan.command_line,
                       .heartbeat_ms = plan.program.heartbeat_ms,
                       .passes_input = false};
  return run_guarded(
      options, [&](EngineSide side) { return run_engine(plan, std::move(side), &door, answer); });
}

}  // namespace terrane::tools
