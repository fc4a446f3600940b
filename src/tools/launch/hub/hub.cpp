#include "tools/launch/hub/hub.h"

#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>

#include "tools/launch/addresses.h"
#include "tools/launch/codec.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kAgentsEndMs = 1000;  // for agents to end after their hosts' engines have

Death death_by(Silence silence, const std::string& seen_from) {
  std::string why = silence.answers
                        ? "its kernel answers, so its engine is stopped or gets no processor; more "
                          "time is given by --death-after SECONDS"
                        : "host down or link cut";
  if (!seen_from.empty()) why += "; seen from host " + seen_from;
  return {.cause = Death::Cause::kSilent,
          .number = static_cast<int>(std::min<std::uint64_t>(silence.ms, INT32_MAX)),
          .sentence = std::move(why)};
}

}  // namespace

Hub::Hub(const JobPlan& plan, std::vector<std::uint32_t> hosts, std::int32_t own_host, Loop& loop,
         Children& children, const Inheritance& inheritance, Handlers handlers)
    : plan_(plan),
      remote_(std::move(hosts)),
      own_host_(own_host),
      loop_(loop),
      children_(children),
      inheritance_(inheritance),
      handlers_(std::move(handlers)),
      hosts_(plan.program.map.names.size()),
      peers_(plan.program.map.names.size()),
      streams_(
          loop, children, inheritance.nice,
          [this](std::uint32_t host, const HostCommand& command) { tell(host, command); },
          [this](const std::string& sentence) { handlers_.on_output_failed(sentence); }),
      vigil_(static_cast<std::uint32_t>(hosts_.size()),
             std::max<std::uint64_t>(plan.program.heartbeat_ms, 1), plan.program.death_after_ms),
      start_timeout_(loop,
                     [this] {
                       start_failed(fmt::format(
                           "{} within {:.0f} s{}; try with more time: "
                           "--start-timeout SECONDS, and see with -v what was started",
                           missing(), static_cast<double>(plan_.start_timeout_ms) / 1000,
                           stranger_.empty() ? "" : " (" + stranger_ + ")"));
                     }),
      tick_(loop, [this] { tick(); }),
      kill_agents_(loop,
                   [this] {
                     for (auto& agent : agents_) agent->signal(SIGKILL);
                     close_gateways();
                   }),
      kill_gateways_(loop, [this] { gateways_->kill_agents(); }) {
  for (std::uint32_t host : remote_) hosts_[host].expected = true;
}

std::string Hub::missing() const {
  std::string gateways = gateways_ ? gateways_->missing() : "";
  if (!gateways.empty()) return gateways + " has not come up";
  std::vector<std::string> names;
  for (std::uint32_t host : remote_) {
    if (!hosts_[host].link) names.push_back(plan_.program.map.names[host]);
  }
  return fmt::format("no engine has come up on host{} {}", names.size() == 1 ? "" : "s",
                     fmt::join(names, ", "));
}

base::Result<> Hub::start() {
  if (plan_.secret) {
    secret_ = plan_.secret;
  } else {
    auto secret = stream::Secret::random();
    if (!secret) return secret.error();
    secret_ = secret.value();
  }
  if (auto opened = streams_.open(remote_, plan_.program.tag_output); !opened) return opened;
  lobby_.emplace(
      loop_, *secret_,
      Lobby::Handlers{
          .on_guest = [this](std::unique_ptr<Link> link,
                             const Introduction& guest) { on_guest(std::move(link), guest); },
          .on_stranger = [this](const std::string& complaint) { stranger_ = complaint; }});
  if (auto opened = lobby_->open(); !opened) return opened;
  if (auto opened = open_beats(); !opened) return opened;
  if (remote_.empty()) {
    all_present();
    return {};
  }
  if (plan_.engine != StartEngine::kForeign) limit_start();
  return plan_.gateways.empty() ? start_agents() : start_gateways();
}

// The engines come after them.
base::Result<> Hub::start_gateways() {
  gateways_.emplace(
      plan_, *secret_, loop_, children_, inheritance_,
      HubGateways::Handlers{
          .on_all_present =
              [this] {
                if (auto started = start_agents(); !started) start_failed(started.error().message);
              },
          .on_start_failed = [this](const std::string& sentence) { start_failed(sentence); },
          .on_lost = [this](const std::string& sentence) { handlers_.on_divided(sentence); },
          .on_notice = [this](const std::string& line) { handlers_.on_notice(line); },
          .on_visitor = [this](base::UniqueFd socket) { lobby_->admit(std::move(socket)); }});
  return gateways_->start(address());
}

void Hub::limit_start() {
  if (starting_) start_timeout_.set_in(plan_.start_timeout_ms);
}

HubAddress Hub::address() const { return {own_addresses(), lobby_->port()}; }

base::Result<> Hub::open_beats() {
  if (own_host_ < 0 || plan_.program.heartbeat_ms == 0) return {};
  beats_.emplace(loop_, *secret_, [this](std::uint32_t host, Silence silence) {
    auto own = static_cast<std::uint32_t>(own_host_);
    lose(host, death_by(silence, plan_.program.map.names[own]));
  });
  if (auto opened = beats_->open(); !opened) return opened;
  peers_[static_cast<std::uint32_t>(own_host_)] = {"", beats_->port()};
  return {};
}

base::Result<> Hub::start_agents() {
  DoorsOf doors_of;
  if (gateways_)
    doors_of = [this](std::uint32_t host) {
      return gateways_->is_direct(host) ? std::vector<bootstrap::GatewayDoor>()
                                        : gateways_->doors_of(host);
    };
  for (AgentCommand& command :
       agent_commands(plan_, remote_, address(), secret_->hex(), doors_of)) {
    if (plan_.verbose) {
      handlers_.on_notice(fmt::format("starting: {}", fmt::join(command.argv, " ")));
    }
    std::size_t number = agents_.size();
    auto agent = Agent::start(loop_, children_, inheritance_, std::move(command),
                              [this, number](int status) { on_agent_end(number, status); });
    if (!agent) return agent.error();
    agents_.push_back(std::move(agent).value());
  }
  return {};
}

bool Hub::is_remote(std::uint32_t host) const {
  return std::find(remote_.begin(), remote_.end(), host) != remote_.end();
}

void Hub::refuse(std::unique_ptr<Link> link, const std::string& sentence) {
  link->send(encode_message<HostCommand>(command::Refuse{sentence}));
  refused_.push_back(std::move(link));
}

void Hub::take_host(std::uint32_t host, std::unique_ptr<Link> link, const Introduction& guest) {
  link->set_handlers(
      {.on_frame = [this, host](std::span<const std::byte> frame) { return on_frame(host, frame); },
       .on_closed = [this, host](const std::string& why) { on_closed(host, why); }});
  hosts_[host].link = std::move(link);
  hosts_[host].introduction = guest;
  vigil_.expect(host, now_ms());
  if (!tick_.is_set() && plan_.program.heartbeat_ms != 0) tick_.set_in(vigil_.period_ms());
}

// It takes the next place that nobody has had.
void Hub::on_joining(std::unique_ptr<Link> link, const Introduction& guest) {
  if (starting_) {
    link->set_handlers({.on_frame = [](std::span<const std::byte>) { return true; },
                        .on_closed = [](const std::string&) {}});
    early_.emplace_back(std::move(link), guest);
    return;
  }
  const bootstrap::JobMap& map = plan_.program.map;
  auto fits = compare_introductions(introduce_ourselves(), guest, guest.host_name);
  if (!fits) return refuse(std::move(link), fits.error().message);
  std::uint32_t host = map.started_hosts();
  while (host < hosts_.size() && hosts_[host].link) ++host;
  if (host == hosts_.size()) {
    return refuse(std::move(link),
                  fmt::format("this job has had the {} guests that it takes; start it with room "
                              "for more: terrane run --guests N",
                              map.guests));
  }
  std::string objection = handlers_.on_joining(host, guest.host_name);
  if (!objection.empty()) return refuse(std::move(link), objection);
  take_host(host, std::move(link), guest);
  tell(host, command::Start{plan_for(host)});
}

void Hub::on_guest(std::unique_ptr<Link> link, const Introduction& guest) {
  if (!guest.gateway.empty()) {
    if (!gateways_) return refuse(std::move(link), "this job has no gateways");
    std::string objection = gateways_->objection(guest);
    if (!objection.empty()) return refuse(std::move(link), objection);
    return gateways_->take(std::move(link), guest);
  }
  if (guest.joins) return on_joining(std::move(link), guest);
  std::vector<bool> taken;
  for (const Host& host : hosts_) taken.push_back(!host.expected || host.link);
  std::int32_t index = match_host(guest, plan_.program.map.names, taken);
  if (index < 0) {
    return refuse(std::move(link), "this job has no place for another host's engine");
  }
  auto host = static_cast<std::uint32_t>(index);
  auto fits = compare_introductions(introduce_ourselves(), guest, plan_.program.map.names[host]);
  if (!fits) {
    refuse(std::move(link), fits.error().message);
    return start_failed(fits.error().message);
  }
  // Heartbeats do not pass gateways; these tell of a lost host.
  bool is_direct = !gateways_ || gateways_->is_direct(host);
  peers_[host] = {link->peer_address(), is_direct ? guest.port : std::uint16_t{0}};
  take_host(host, std::move(link), guest);
  if (++present_ == remote_.size()) all_present();
}

void Hub::all_present() {
  start_timeout_.clear();
  starting_ = false;
  if (plan_.program.map.guests == 0) lobby_->close();
  handlers_.on_all_present();
  for (auto& [link, guest] : std::exchange(early_, {})) on_joining(std::move(link), guest);
}

HostPlan Hub::plan_for(std::uint32_t host) const {
  HostPlan plan = plan_.program;
  plan.host = host;
  plan.peers = peers_;
  if (gateways_) plan.map.routes = gateways_->routes_of(host);
  plan.map.routes.key.clear();  // the engine makes it of the secret: it does not travel
  return plan;
}

bootstrap::GatewayRoutes Hub::routes_of(std::uint32_t host) const {
  return gateways_ ? gateways_->routes_of(host) : bootstrap::GatewayRoutes();
}

void Hub::send_plans() {
  for (std::uint32_t host : remote_) {
    tell(host, command::Start{plan_for(host)});
  }
  if (!beats_) return;
  beats_->start(peers_, static_cast<std::uint32_t>(own_host_), "", plan_.program.heartbeat_ms,
                plan_.program.death_after_ms);
}

void Hub::carry_input(base::UniqueFd input) {
  streams_.carry_input(std::move(input), plan_.program.map.host_of[0]);
}

void Hub::tell(std::uint32_t host, const HostCommand& command) {
  if (hosts_[host].link) hosts_[host].link->send(encode_message(command));
}

bool Hub::on_frame(std::uint32_t host, std::span<const std::byte> frame) {
  auto event = decode_message<HostEvent>(frame);
  if (!event || starting_) return event && std::holds_alternative<event::Beat>(*event);
  if (const auto* output = std::get_if<event::Output>(&*event)) {
    if (is_remote(host)) streams_.take_output(host, *output);
  } else if (const auto* taken = std::get_if<event::InputTaken>(&*event)) {
    streams_.input_taken(taken->bytes);
  } else if (const auto* silent = std::get_if<event::HostSilent>(&*event)) {
    if (silent->host >= hosts_.size() || silent->host == host) return false;
    lose(silent->host, death_by({silent->ms, silent->answers}, plan_.program.map.names[host]));
  } else {
    bool gone = std::holds_alternative<event::Ended>(*event);
    // A guest that has left goes its own way.
    bool left = !is_remote(host) && std::holds_alternative<event::NodeLeftAlone>(*event);
    if (gone || left) hosts_[host].ended = true;
    if (gone && is_remote(host)) streams_.finish_output(host);
    return handlers_.on_event(host, *event);
  }
  return true;
}

void Hub::on_closed(std::uint32_t host, const std::string& why) {
  vigil_.dismiss(host);
  if (closed_ || hosts_[host].lost) return;
  const std::string& name = plan_.program.map.names[host];
  if (starting_) {
    return start_failed(
        fmt::format("the engine on host {} ended while the job was being started: {}", name, why));
  }
  lose(host,
       {.cause = Death::Cause::kHostLost,
        .sentence = fmt::format(
            "the engine of this host has gone ({}): it was killed, or the host went down", why)});
}

void Hub::lose(std::uint32_t host, Death cause) {
  if (hosts_[host].lost) return;
  hosts_[host].lost = true;
  vigil_.dismiss(host);
  if (hosts_[host].link) hosts_[host].link->close();  // an engine that is alone ends its part
  if (is_remote(host)) streams_.finish_output(host);
  if (!hosts_[host].ended) handlers_.on_lost(host, std::move(cause));
}

void Hub::on_agent_end(std::size_t agent, int status) {
  if (closed_ && agents_have_ended()) close_gateways();
  if (!starting_ || closed_) return;
  const AgentCommand& command = agents_[agent]->command();
  bool all_there = std::all_of(command.hosts.begin(), command.hosts.end(),
                               [this](std::uint32_t host) { return hosts_[host].link != nullptr; });
  if (all_there) return;
  start_failed(explain_agent(plan_, command, status, agents_[agent]->said()));
}

void Hub::start_failed(const std::string& sentence) {
  if (closed_) return;
  starting_ = false;
  handlers_.on_start_failed(sentence);
}

// Signs of life over the connections: also for hosts that UDP does not reach.
void Hub::tick() {
  tick_.set_in(vigil_.period_ms());
  std::uint64_t now = now_ms();
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    Link* link = hosts_[host].link.get();
    if (!link || !link->is_open()) continue;
    if (!hosts_[host].lost) {
      vigil_.heard(host, link->heard_at_ms());
      vigil_.answered(host, link->answered_at_ms());
    }
    if (now - link->sent_at_ms() >= vigil_.period_ms()) tell(host, command::Beat{});
  }
  for (std::uint32_t host : vigil_.look(now)) {
    lose(host, death_by({vigil_.silence_ms(host), vigil_.answers(host)}, ""));
  }
}

void Hub::close() {
  if (closed_) return;
  closed_ = true;
  starting_ = false;
  for (Timer* timer : {&start_timeout_, &tick_}) timer->clear();
  if (lobby_) lobby_->close();
  for (Host& host : hosts_) {
    if (host.link) host.link->close();
  }
  if (beats_) beats_->stop();
  streams_.finish();
  for (auto& agent : agents_) agent->hang_up();
  kill_agents_.set_in(present_ == remote_.size() ? kAgentsEndMs : kAgentsEndMs / 5);
  if (agents_have_ended()) close_gateways();
}

// After the engines: those of other clusters hear through the gateways that the job has ended.
void Hub::close_gateways() {
  if (!gateways_ || std::exchange(gateways_closed_, true)) return;
  gateways_->close();
  kill_gateways_.set_in(kAgentsEndMs);
}

bool Hub::agents_have_ended() const {
  return std::all_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent->pid() == 0; });
}

bool Hub::finished() const {
  return closed_ && streams_.finished() && agents_have_ended() &&
         (!gateways_ || (gateways_closed_ && gateways_->finished()));
}

std::vector<pid_t> Hub::processes() const {
  std::vector<pid_t> all;
  if (streams_.process() != 0) all.push_back(streams_.process());
  for (const auto& agent : agents_) {
    if (agent->pid() != 0) all.push_back(agent->pid());
  }
  if (gateways_) {
    for (pid_t one : gateways_->processes()) all.push_back(one);
  }
  return all;
}

}  // namespace terrane::tools
