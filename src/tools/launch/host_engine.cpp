#include "tools/launch/host_engine.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/log.h"
#include "tools/launch/beats.h"
#include "tools/launch/children.h"
#include "tools/launch/codec.h"
#include "tools/launch/dial.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/guard.h"
#include "tools/launch/guard_link.h"
#include "tools/launch/host_part.h"
#include "tools/launch/host_streams.h"
#include "tools/launch/introduction.h"
#include "tools/launch/link.h"
#include "tools/launch/process_tree.h"
#include "tools/launch/program.h"
#include "tools/launch/vigil.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kPatienceMs = 2000;

std::int32_t rank_from_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return -1;
}

// The engine of a host that is not the hub's: does as the hub tells, reports to it, and ends its
// part when it is alone. Owns the host's part and the connection.
class HostEngine final : HostListener {
 public:
  // `door`: where another launcher starts the nodes; else nullptr.
  HostEngine(const HostEngineOptions& options, const Secret& secret, Loop& loop, EngineSide side,
             DoorPlan* door)
      : options_(options),
        secret_(secret),
        inheritance_(*side.inheritance),
        input_(std::move(side.input)),
        loop_(loop),
        children_(loop),
        guard_(loop, std::move(side.guard), options.heartbeat_ms,
               {.on_signal = [this](int signal) { on_signal(signal); },
                .on_gone = [this] { be_alone(); },
                .on_stopped = [this] { guard_stopped(); }}),
        beats_(loop, secret,
               [this](std::uint32_t host) {
                 report(event::HostSilent{host, options_.heartbeat_ms});
               }),
        streams_(loop, [this](HostEvent event) { report(event); }),
        vigil_(1, std::max<std::uint64_t>(options.heartbeat_ms, 1)),
        tick_(loop, [this] { tick(); }),
        door_(door) {}

  base::Result<> open() {
    if (auto opened = children_.open(); !opened) return opened;
    if (auto opened = guard_.open(); !opened) return opened;
    Introduction ours = introduce_ourselves();
    ours.joins = options_.guest != nullptr;
    if (options_.heartbeat_ms != 0 && !options_.guest) {
      if (auto opened = beats_.open(); !opened) return opened;
      ours.port = beats_.port();
    }
    ours.host = options_.host;
    ours.rank = rank_from_environment();
    return dial(ours);
  }

  // After open(): until the hub lets this host go.
  int run() {
    while (!finished()) loop_.turn();
    kill_all_descendants(kPatienceMs);
    return options_.guest && !exit_code_ && !part_ ? kExitFailure
           : options_.guest                        ? exit_code_.value_or(0)
           : let_go_                               ? 0
                                                   : kExitFailure;
  }

 private:
  base::Result<> dial(const Introduction& ours) {
    auto socket = dial_hub(options_.hub_addresses, options_.port, secret_, options_.dial_timeout_ms,
                           options_.lifeline);
    if (!socket) return socket.error();
    link_ = std::make_unique<Link>(loop_, std::move(socket).value());
    link_->set_handlers(
        {.on_frame = [this](std::span<const std::byte> frame) { return on_frame(frame); },
         .on_closed =
             [this](const std::string& why) {
               if (options_.guest) say_lost(why);
               be_alone();
             }});
    std::vector<std::byte> introduction;
    Encoder(introduction).put(ours);
    link_->send(introduction);
    vigil_.expect(0, now_ms());
    if (options_.heartbeat_ms != 0) tick_.set_in(vigil_.period_ms());
    return {};
  }

  bool finished() const { return alone_ && (!part_ || part_->ended()); }

  bool on_frame(std::span<const std::byte> frame) {
    auto command = decode_message<HostCommand>(frame);
    if (!command) return false;
    if (const auto* start = std::get_if<command::Start>(&*command)) return begin(start->plan);
    if (const auto* card = std::get_if<command::Card>(&*command)) {
      if (!part_ || card->node.value >= plan_.map.nodes()) return false;
    }
    if (const auto* refusal = std::get_if<command::Refuse>(&*command)) {
      base::log_line(refusal->sentence);
      return false;
    }
    if (options_.guest) return act_as_guest(*command);
    if (std::holds_alternative<command::Kill>(*command)) streams_.drop();
    streams_.act(*command);
    if (part_) part_->act(*command);
    return true;
  }

  // False: the plan makes no sense.
  bool begin(const HostPlan& plan) {
    bool sense = !part_ && is_sound(plan.map) && plan.host < plan.map.names.size() &&
                 (door_ || !plan.argv.empty()) && plan.peers.size() == plan.map.names.size();
    if (!sense) return false;
    plan_ = plan;
    if (options_.guest) take_own_program();
    const std::string& name = plan_.map.names[plan_.host];
    if (!plan_.folder.empty() && ::chdir(plan_.folder.c_str()) != 0) {
      give_up(kExitFailure,
              fmt::format("host {} has no folder {} to run in ({}); choose one that is "
                          "on all hosts: --wdir FOLDER",
                          name, plan_.folder, std::strerror(errno)));
      return true;
    }
    ProgramLookup program = door_ ? ProgramLookup() : find_program(plan_.path, "");
    if (program.exit_code != 0) {
      give_up(program.exit_code, fmt::format("on host {}: {}", name, program.error.message));
      return true;
    }
    if (options_.heartbeat_ms != 0 && !options_.guest) {
      beats_.start(plan_.peers, plan_.host, link_->peer_address(), options_.heartbeat_ms);
    }
    if (auto started = start_part(); !started) {
      report(event::Failed{fmt::format("on host {}: {}", name, started.error().message),
                           kExitFailure});
      part_->kill_now();
    }
    return true;
  }

  // The job says how the nodes are to be run, all but for what is the guest's own.
  void take_own_program() {
    plan_.path = options_.guest->path;
    plan_.argv = options_.guest->argv;
    plan_.folder.clear();
    plan_.tag_output = plan_.bind_to_core = plan_.hold = false;
  }

  // Nothing that the job does concerns a guest that has left.
  bool act_as_guest(const HostCommand& command) {
    if (const auto* end = std::get_if<command::End>(&command); end && !left_) {
      if (!end->sentence.empty()) base::log_line(end->sentence);
      if (!exit_code_) exit_code_ = kExitFailure;
    }
    if (std::holds_alternative<command::Kill>(command)) say_lost("`terrane run` was killed");
    if (part_ && !left_) part_->act(command);
    return true;
  }

  // What is sent to a guest's engine is meant for its program alone.
  void on_signal(int signal) {
    if (!options_.guest) return report(event::Signalled{signal});
    if (part_) return part_->act(command::Signal{signal});
    be_alone();
  }

  // The streams of a guest are its own.
  base::Result<> start_guest() {
    part_.emplace(plan_, HostSurroundings{.loop = &loop_,
                                          .children = &children_,
                                          .listener = this,
                                          .inheritance = &inheritance_,
                                          .guard = guard_.socket()});
    return part_->start(std::move(input_));
  }

  base::Result<> start_part() {
    if (options_.guest) return start_guest();
    if (auto opened = streams_.open(); !opened) return opened;
    base::UniqueFd input;
    if (plan_.map.host_of[0] == plan_.host) {
      auto opened = streams_.open_input();
      if (!opened) return opened.error();
      input = std::move(opened).value();
    }
    part_.emplace(plan_, HostSurroundings{.loop = &loop_,
                                          .children = &children_,
                                          .listener = this,
                                          .inheritance = &inheritance_,
                                          .guard = guard_.socket(),
                                          .output = streams_.output(),
                                          .error = streams_.error(),
                                          .door = door_});
    auto started = part_->start(std::move(input));
    streams_.close_nodes_ends();
    return started;
  }

  void give_up(int exit_code, const std::string& sentence) {
    report(event::Failed{sentence, exit_code});
    report(event::Ended{});
  }

  void on_event(std::uint32_t, HostEvent event) override {
    // When the guard dies, its nodes are killed: that is no death of their own.
    if (std::holds_alternative<event::NodeDied>(event) && guard_.guard_is_going()) be_alone();
    if (options_.guest) return on_guests_event(event);
    if (!std::holds_alternative<event::Ended>(event)) return report(event);
    // What the nodes wrote last comes before the end.
    streams_.finish([this] { report(event::Ended{}); });
  }

  void say_lost(const std::string& why) {
    if (!part_ || part_->ended() || left_ || exit_code_) return;
    base::log_line(fmt::format(
        "the job that this program had joined has gone ({}); the program is being ended", why));
    exit_code_ = kExitFailure;
  }

  void on_guests_event(const HostEvent& event) {
    const auto* died = std::get_if<event::NodeDied>(&event);
    if (died && !exit_code_) {
      base::log_line(describe(died->death, plan_.map.names[plan_.host], 0));
      exit_code_ = exit_code_of(died->death);
    }
    if (const auto* notice = std::get_if<event::Notice>(&event)) base::log_line(notice->text);
    report(event);
    if (std::holds_alternative<event::NodeLeftAlone>(event)) left_ = true;
    if (std::holds_alternative<event::Ended>(event)) be_alone();
  }

  void report(const HostEvent& event) {
    if (std::holds_alternative<event::Ended>(event)) let_go_ = true;
    if (link_) link_->send(encode_message(event));
  }

  // Nobody is left to be told anything.
  void be_alone() {
    if (std::exchange(alone_, true)) return;
    tick_.clear();
    beats_.stop();
    streams_.drop();
    if (link_) link_->close();
    if (part_ && !left_) part_->act(command::Kill{});
  }

  void guard_stopped() {
    report(event::Failed{fmt::format("the process above the engine of host {} has been stopped "
                                     "for {:.1f} s",
                                     plan_.map.names.empty() ? "" : plan_.map.names[plan_.host],
                                     static_cast<double>(options_.heartbeat_ms) / 1000),
                         kExitFailure});
    be_alone();
  }

  void tick() {
    tick_.set_in(vigil_.period_ms());
    std::uint64_t now = now_ms();
    if (now - link_->sent_at_ms() >= vigil_.period_ms()) report(event::Beat{});
    vigil_.heard(0, link_->heard_at_ms());
    if (!vigil_.look(now).empty()) be_alone();
  }

  const HostEngineOptions& options_;
  Secret secret_;
  const Inheritance& inheritance_;
  base::UniqueFd input_;
  Loop& loop_;
  Children children_;
  GuardLink guard_;
  std::unique_ptr<Link> link_;
  Beats beats_;
  HostStreams streams_;
  HostPlan plan_;
  std::optional<HostPart> part_;
  Vigil vigil_;
  Timer tick_;
  bool alone_ = false;
  bool let_go_ = false;           // its part has ended, and the hub was told
  std::optional<int> exit_code_;  // of a guest
  bool left_ = false;             // the guest has, and goes its own way
  DoorPlan* door_;
};

int run_engine(const HostEngineOptions& options, const Secret& secret, EngineSide side,
               DoorPlan* door, const AdoptionAnswer& answer) {
  auto loop = Loop::create();
  if (!loop) {
    answer(loop.error());
    return kExitFailure;
  }
  HostEngine engine(options, secret, *loop.value(), std::move(side), door);
  if (auto opened = engine.open(); !opened) {
    answer(opened.error());
    return kExitFailure;
  }
  answer(HubAddress{options.hub_addresses, options.port});
  return engine.run();
}

GuardOptions guard_options(const HostEngineOptions& options) {
  return {.command_line = options.command_line,
          .heartbeat_ms = options.heartbeat_ms,
          .passes_input = false};
}

}  // namespace

int run_host_engine(const HostEngineOptions& options, const Secret& secret) {
  return run_guarded(guard_options(options), [&](EngineSide side) {
    return run_engine(options, secret, std::move(side), nullptr,
                      [](const base::Result<HubAddress>& opened) {
                        if (!opened) base::log_line(opened.error().message);
                      });
  });
}

int run_guest_engine(const HostEngineOptions& options, const Secret& secret) {
  GuardOptions guard = guard_options(options);
  guard.passes_input = true;
  return run_guarded(guard, [&](EngineSide side) {
    return run_engine(options, secret, std::move(side), nullptr,
                      [](const base::Result<HubAddress>& opened) {
                        if (!opened) base::log_line(opened.error().message);
                      });
  });
}

int run_adopting_host_engine(const HostEngineOptions& options, const Secret& secret, DoorPlan door,
                             const AdoptionAnswer& answer) {
  return run_guarded(guard_options(options), [&](EngineSide side) {
    return run_engine(options, secret, std::move(side), &door, answer);
  });
}

}  // namespace terrane::tools
