#include "tools/launch/hub/remote_engine.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "tools/launch/codec.h"
#include "tools/launch/dial.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/gateways/hub_gateways.h"
#include "tools/launch/host/process_tree.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kPatienceMs = 2000;

std::int32_t rank_from_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return -1;
}

}  // namespace

RemoteEngine::RemoteEngine(const HostEngineOptions& options, const stream::Secret& secret,
                           Loop& loop, EngineSide side, DoorPlan* door)
    : options_(options),
      loop_(loop),
      input_(std::move(side.input)),
      guard_(loop, std::move(side.guard), options.heartbeat_ms,
             {.on_signal = [this](int signal) { on_signal(signal); },
              .on_gone = [this] { be_alone(); },
              .on_stopped = [this] { guard_stopped(); }}),
      door_(door),
      secret_(secret),
      inheritance_(*side.inheritance),
      children_(loop),
      vigil_(1, std::max<std::uint64_t>(options.heartbeat_ms, 1), kDeathAfterMs),
      tick_(loop, [this] { tick(); }) {}

base::Result<> RemoteEngine::open() {
  if (auto opened = children_.open(); !opened) return opened;
  if (auto opened = guard_.open(); !opened) return opened;
  Introduction ours = introduce_ourselves();
  ours.host = options_.host;
  ours.rank = rank_from_environment();
  if (auto introduced = introduce(ours); !introduced) return introduced;
  return dial(ours);
}

int RemoteEngine::run() {
  while (!finished()) loop_.turn();
  kill_all_descendants(kPatienceMs);
  return exit_code();
}

base::Result<base::UniqueFd> RemoteEngine::reach_hub() {
  if (options_.route.gateways.empty())
    return dial_hub(options_.hub_addresses, options_.port, secret_, options_.dial_timeout_ms,
                    options_.lifeline);
  auto bridge = EngineBridge::start(options_.route, static_cast<std::uint32_t>(options_.host),
                                    secret_, options_.dial_timeout_ms, options_.lifeline);
  if (!bridge) return bridge.error();
  bridge_ = std::move(bridge).value();
  return prove_to_hub(bridge_->take_socket(), secret_, options_.dial_timeout_ms, options_.lifeline);
}

base::Result<> RemoteEngine::dial(const Introduction& ours) {
  auto socket = reach_hub();
  if (!socket) return socket.error();
  link_ = std::make_unique<Link>(loop_, std::move(socket).value());
  link_->set_handlers(
      {.on_frame = [this](std::span<const std::byte> frame) { return on_frame(frame); },
       .on_closed =
           [this](const std::string& why) {
             on_link_closed(why);
             be_alone();
           }});
  std::vector<std::byte> introduction;
  Encoder(introduction).put(ours);
  link_->send(introduction);
  vigil_.expect(0, now_ms());
  if (options_.heartbeat_ms != 0) tick_.set_in(vigil_.period_ms());
  return {};
}

bool RemoteEngine::on_frame(std::span<const std::byte> frame) {
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
  obey(*command);
  return true;
}

// False: the plan makes no sense.
bool RemoteEngine::begin(const HostPlan& plan) {
  bool sense = !part_ && is_sound(plan.map) && plan.host < plan.map.names.size() &&
               (door_ || !plan.argv.empty()) && plan.peers.size() == plan.map.names.size();
  if (!sense) return false;
  plan_ = plan;
  if (!plan_.map.routes.doors.empty()) plan_.map.routes.key = gateway_secret(secret_).hex();
  adapt(plan_);
  vigil_.set_late_limit_ms(plan_.death_after_ms);
  const std::string& name = plan_.map.names[plan_.host];
  if (!plan_.folder.empty() && ::chdir(plan_.folder.c_str()) != 0) {
    give_up(kExitFailure, fmt::format("host {} has no folder {} to run in ({}); choose one that is "
                                      "on all hosts: --wdir FOLDER",
                                      name, plan_.folder, std::strerror(errno)));
    return true;
  }
  ProgramLookup program = door_ ? ProgramLookup() : find_program(plan_.path, "");
  if (program.exit_code != 0) {
    give_up(program.exit_code, fmt::format("on host {}: {}", name, program.error.message));
    return true;
  }
  if (auto started = start_part(); !started) {
    fail(kExitFailure, fmt::format("on host {}: {}", name, started.error().message));
    if (part_) part_->kill_now();
  }
  return true;
}

base::Result<> RemoteEngine::start_nodes(HostSurroundings around, base::UniqueFd input) {
  around.loop = &loop_;
  around.children = &children_;
  around.listener = this;
  around.inheritance = &inheritance_;
  around.guard = guard_.socket();
  part_.emplace(plan_, std::move(around));
  return part_->start(std::move(input));
}

void RemoteEngine::give_up(int exit_code, const std::string& sentence) {
  fail(exit_code, sentence);
  report(event::Ended{});
}

void RemoteEngine::fail(int exit_code, const std::string& sentence) {
  report(event::Failed{sentence, exit_code});
}

void RemoteEngine::report(const HostEvent& event) {
  if (std::holds_alternative<event::Ended>(event)) let_go_ = true;
  if (link_) link_->send(encode_message(event));
}

void RemoteEngine::be_alone() {
  if (std::exchange(alone_, true)) return;
  tick_.clear();
  if (link_) link_->close();
  on_alone();
}

void RemoteEngine::guard_stopped() {
  fail(kExitFailure,
       fmt::format("the process above the engine of host {} has been stopped for {:.1f} s",
                   plan_.map.names.empty() ? "" : plan_.map.names[plan_.host],
                   static_cast<double>(options_.heartbeat_ms) / 1000));
  be_alone();
}

void RemoteEngine::tick() {
  tick_.set_in(vigil_.period_ms());
  std::uint64_t now = now_ms();
  vigil_.heard(0, link_->heard_at_ms());
  vigil_.answered(0, link_->answered_at_ms());
  if (now - link_->sent_at_ms() >= vigil_.period_ms()) report(event::Beat{});
  if (!vigil_.look(now).empty()) be_alone();
}

int run_guarded_engine(const HostEngineOptions& options, bool passes_input,
                       const AdoptionAnswer& answer, const MakeEngine& make) {
  GuardOptions guard{.command_line = options.command_line,
                     .heartbeat_ms = options.heartbeat_ms,
                     .passes_input = passes_input};
  return run_guarded(guard, [&](EngineSide side) {
    auto loop = Loop::create();
    if (!loop) {
      answer(loop.error());
      return kExitFailure;
    }
    std::unique_ptr<RemoteEngine> engine = make(*loop.value(), std::move(side));
    if (auto opened = engine->open(); !opened) {
      answer(opened.error());
      return kExitFailure;
    }
    answer(HubAddress{options.hub_addresses, options.port});
    return engine->run();
  });
}

void say_failure(const base::Result<HubAddress>& opened) {
  if (!opened) base::log_line(opened.error().message);
}

}  // namespace terrane::tools
