#include "tools/launch/gateways/hub_gateways.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <sys/epoll.h>

#include <algorithm>

#include "tools/launch/addresses.h"
#include "tools/launch/codec.h"
#include "tools/launch/gateways/cluster_paths.h"
#include "tools/launch/gateways/gateway_address.h"
#include "tools/launch/gateways/gateway_window.h"
#include "transport/routed/hello.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kHelloMs = 5000;
constexpr std::uint64_t kOthersEndMs = 500;  // for the gateways of other clusters to end
constexpr std::uint64_t kLookMs = 2;
constexpr std::uint64_t kLastWordsMs = 500;

}  // namespace

stream::Secret gateway_secret(const stream::Secret& job) { return job.derive("gateways"); }

// The hub as an end of the network that the gateways form.
class HubGateways::Network final : public transport::routed::End::Receiver {
 public:
  Network(HubGateways& owner, std::uint32_t ways)
      : owner_(owner),
        end_(routing::Address::of_hub(), owner.window_, ways),
        bridge_(owner.loop_,
                {.send = [this](routing::Address to, std::uint16_t tag,
                                routing::Bytes message) { end_.send(to, tag, message, {}); },
                 .is_full = [this](routing::Address to) { return end_.is_full(to); }},
                [this](routing::Address, base::UniqueFd socket) {
                  owner_.handlers_.on_visitor(std::move(socket));
                }) {}
  ~Network() override {
    if (end_.poll_fd() >= 0) owner_.loop_.forget(end_.poll_fd());
  }

  base::Result<> open() {
    if (auto opened = end_.open(); !opened) return opened;
    owner_.loop_.watch(end_.poll_fd(), EPOLLIN, [this](std::uint32_t) { end_.take_in(*this); });
    return {};
  }
  base::Result<> add(std::unique_ptr<stream::Connection> connection) {
    connection->limit_silence(owner_.plan_.program.heartbeat_ms);
    if (auto added = end_.add_way(std::move(connection)); !added) return added;
    end_.take_in(*this);  // what came behind the hello
    return {};
  }

  void message(routing::Address from, std::uint16_t tag, routing::Bytes message) override {
    bridge_.message(from, tag, message);
  }
  void lost(routing::Address peer, const std::string&) override { bridge_.lost(peer); }

 private:
  HubGateways& owner_;
  transport::routed::End end_;
  StreamBridge bridge_;
};

HubGateways::HubGateways(const JobPlan& plan, const stream::Secret& secret, Loop& loop,
                         Children& children, const Inheritance& inheritance, Handlers handlers)
    : plan_(plan),
      secret_(secret),
      loop_(loop),
      children_(children),
      inheritance_(inheritance),
      handlers_(std::move(handlers)),
      window_(gateway_window(plan)),
      gateways_(plan.gateways.size()),
      vigil_(static_cast<std::uint32_t>(plan.gateways.size()),
             std::max<std::uint64_t>(plan.program.heartbeat_ms, 1), plan.program.death_after_ms),
      tick_(loop, [this] { tick(); }),
      close_own_(loop, [this] { close_own(); }),
      let_go_(loop, [this] { let_go(); }) {
  for (std::size_t i = 0; i < gateways_.size(); ++i) gateways_[i].plan = &plan.gateways[i];
  const bootstrap::JobMap& map = plan.program.map;
  if (plan.own_host >= 0) {
    own_cluster_ = map.cluster_of_host(static_cast<std::uint32_t>(plan.own_host));
  } else {
    auto here = std::find_if(
        plan.gateways.begin(), plan.gateways.end(),
        [](const GatewayPlan& one) { return !one.host.empty() && is_this_host(one.host); });
    if (here != plan.gateways.end()) own_cluster_ = here->cluster;
  }
  last_cluster_ = own_cluster_;
}

HubGateways::~HubGateways() = default;

std::string HubGateways::title(const Gateway& gateway) const {
  return fmt::format("gateway {} of cluster {}{}{}", gateway.plan->name,
                     plan_.program.map.clusters[gateway.plan->cluster],
                     gateway.plan->host.empty() ? "" : " on host ", gateway.plan->host);
}

const HubGateways::Gateway* HubGateways::find(const std::string& name) const {
  auto found = std::find_if(gateways_.begin(), gateways_.end(),
                            [&](const Gateway& one) { return one.plan->name == name; });
  return found == gateways_.end() ? nullptr : &*found;
}

base::Result<> HubGateways::start(const HubAddress& hub) {
  hub_ = hub;
  auto own = static_cast<std::uint32_t>(
      std::count_if(gateways_.begin(), gateways_.end(),
                    [this](const Gateway& one) { return one.plan->cluster == own_cluster_; }));
  network_ = std::make_unique<Network>(*this, own);
  if (auto opened = network_->open(); !opened) return opened;
  for (std::uint32_t cluster = 0; cluster < plan_.program.map.clusters.size(); ++cluster)
    if (cluster != own_cluster_) waiting_clusters_.push_back(cluster);
  return start_cluster(own_cluster_);
}

// Where the gateways of a cluster are to dial: those of the clusters that are linked with it, as
// far as they are there.
std::vector<bootstrap::GatewayDoor> HubGateways::doors_for(std::uint32_t cluster) const {
  const auto& links = plan_.program.map.links;
  auto are_linked = [&](std::uint32_t other) {
    return links.empty() || std::any_of(links.begin(), links.end(), [&](const auto& link) {
             return (link.from == cluster && link.to == other) ||
                    (link.from == other && link.to == cluster);
           });
  };
  std::vector<bootstrap::GatewayDoor> doors;
  for (const Gateway& gateway : gateways_) {
    bool is_other = gateway.plan->cluster != cluster && are_linked(gateway.plan->cluster);
    if (!is_other || !is_present(gateway) || gateway.plan->host.empty()) continue;
    std::vector<std::string> addresses{gateway.plan->link_address};
    if (addresses[0].empty()) addresses = gateway.link_door.addresses;
    doors.push_back({addresses, gateway.link_door.port});
  }
  return doors;
}

// Starts the gateways of one cluster.
base::Result<> HubGateways::start_cluster(std::uint32_t cluster) {
  bool is_own = cluster == own_cluster_;
  auto via = is_own ? std::vector<bootstrap::GatewayDoor>() : doors_for(cluster);
  for (std::size_t number = 0; number < gateways_.size(); ++number) {
    Gateway& gateway = gateways_[number];
    if (gateway.plan->cluster != cluster || gateway.plan->host.empty()) continue;
    if (!is_own && via.empty())
      return base::error("no link leads to cluster {}; add it to [[links]]",
                         plan_.program.map.clusters[cluster]);
    AgentCommand command = gateway_command(plan_, *gateway.plan, hub_, via, window_, secret_.hex());
    if (plan_.verbose)
      handlers_.on_notice(fmt::format("starting: {}", fmt::join(command.argv, " ")));
    auto agent = Agent::start(loop_, children_, inheritance_, std::move(command),
                              [this, number](int status) { on_agent_end(number, status); });
    if (!agent) return agent.error();
    gateway.agent = std::move(agent).value();
  }
  return {};
}

std::string HubGateways::objection(const Introduction& introduction) const {
  const Gateway* gateway = find(introduction.gateway);
  if (gateway == nullptr)
    return fmt::format("this job has no gateway {}; name it in [[gateways]]", introduction.gateway);
  if (introduction.version != TERRANE_VERSION)
    return fmt::format(
        "gateway {} is of Terrane {}, this job of {}; install one version on all hosts",
        introduction.gateway, introduction.version, TERRANE_VERSION);
  bool is_there = introduction.carries_frames
                      ? gateway->carries || gateway->plan->cluster != own_cluster_
                      : gateway->link != nullptr;
  if (is_there || gateway->lost)
    return fmt::format("gateway {} is there already; give each its own name", introduction.gateway);
  return "";
}

void HubGateways::take(std::unique_ptr<Link> link, const Introduction& introduction) {
  auto number = static_cast<std::size_t>(find(introduction.gateway) - gateways_.data());
  Gateway& gateway = gateways_[number];
  if (introduction.carries_frames) return take_frames(std::move(link), gateway);
  link->set_handlers(
      {.on_frame = [this,
                    number](std::span<const std::byte> frame) { return on_frame(number, frame); },
       .on_closed =
           [this, number](const std::string& why) {
             lose(number, fmt::format("has gone ({}): it was killed, or its host "
                                      "went down",
                                      why));
           }});
  gateway.link = std::move(link);
  gateway.inner = introduction.inner;
  gateway.link_door = introduction.link;
  vigil_.expect(static_cast<std::uint32_t>(number), now_ms());
  if (!tick_.is_set() && plan_.program.heartbeat_ms != 0) tick_.set_in(vigil_.period_ms());
  on_change();
}

// The link has read one frame, and the gateway waits for our hello before it sends more.
void HubGateways::take_frames(std::unique_ptr<Link> link, Gateway& gateway) {
  auto connection = stream::Connection::of_proven(link->release());
  parked_.push_back(std::move(link));
  auto ours = transport::routed::hello_of(routing::Address::of_hub(), window_);
  auto hello = transport::routed::exchange_hello(*connection, ours, kHelloMs);
  if (!hello) return lose_unconnected(gateway, hello.error().message);
  if (auto added = network_->add(std::move(connection)); !added)
    return lose_unconnected(gateway, added.error().message);
  gateway.carries = true;
  on_change();
}

void HubGateways::lose_unconnected(const Gateway& gateway, const std::string& why) {
  lose(static_cast<std::size_t>(&gateway - gateways_.data()), "cannot be spoken to: " + why);
}

bool HubGateways::is_present(const Gateway& gateway) const {
  return gateway.link && (gateway.carries || gateway.plan->cluster != own_cluster_);
}

// All that the hub starts in this cluster, or all of the job.
bool HubGateways::all_present(std::optional<std::uint32_t> cluster) const {
  return std::all_of(gateways_.begin(), gateways_.end(), [&](const Gateway& gateway) {
    bool counts = !cluster || (gateway.plan->cluster == *cluster && !gateway.plan->host.empty());
    return !counts || is_present(gateway);
  });
}

// One cluster after the other is started: the gateways of a later one dial those that are there.
void HubGateways::on_change() {
  while (starting_ && all_present(last_cluster_) && !waiting_clusters_.empty()) {
    std::uint32_t next = waiting_clusters_.front();
    waiting_clusters_.erase(waiting_clusters_.begin());
    last_cluster_ = next;
    if (auto started = start_cluster(next); !started)
      return handlers_.on_start_failed(started.error().message);
  }
  if (!starting_ || !all_present(std::nullopt) || !joins_all()) return;
  starting_ = false;
  handlers_.on_all_present();
}

std::string HubGateways::missing() const {
  std::vector<std::string> names;
  for (const Gateway& gateway : gateways_) {
    if (is_present(gateway)) continue;
    names.push_back(gateway.plan->host.empty()
                        ? fmt::format("{} (to be started by hand: terrane gateway --name {})",
                                      gateway.plan->name, gateway.plan->name)
                        : gateway.plan->name);
  }
  if (!names.empty()) return fmt::format("gateway {}", fmt::join(names, ", "));
  return joins_all() ? "" : "the links between the gateways";
}

bool HubGateways::is_direct(std::uint32_t host) const {
  return plan_.program.map.cluster_of_host(host) == own_cluster_;
}

std::vector<bootstrap::GatewayDoor> HubGateways::doors_of(std::uint32_t host) const {
  std::vector<bootstrap::GatewayDoor> doors;
  for (const Gateway& gateway : gateways_) {
    bool serves = gateway.plan->cluster == plan_.program.map.cluster_of_host(host);
    if (serves && !gateway.lost) doors.push_back({gateway.inner.addresses, gateway.inner.port});
  }
  return doors;
}

bootstrap::GatewayRoutes HubGateways::routes_of(std::uint32_t host) const {
  return {doors_of(host), gateway_secret(secret_).hex(), window_,
          bandwidths_from(plan_.program.map, host), plan_.encrypt};
}

bool HubGateways::on_frame(std::size_t number, std::span<const std::byte> frame) {
  auto event = decode_message<HostEvent>(frame);
  if (!event) return false;
  if (const auto* up = std::get_if<event::GatewayLinked>(&*event))
    on_link(number, up->gateway, true, "");
  else if (const auto* down = std::get_if<event::GatewayUnlinked>(&*event))
    on_link(number, down->gateway, false, down->why);
  else if (const auto* notice = std::get_if<event::Notice>(&*event))
    take_last_words(notice->text);
  else if (const auto* failed = std::get_if<event::Failed>(&*event))
    lose(number, failed->sentence);
  else
    return std::holds_alternative<event::Beat>(*event);
  return true;
}

void HubGateways::take_last_words(const std::string& text) {
  handlers_.on_notice(text);
  if (closed_ && last_words_ != 0 && --last_words_ == 0) let_go_.set_in(0);
}

void HubGateways::on_link(std::size_t number, const std::string& other, bool is_up,
                          const std::string& why) {
  const std::string& name = gateways_[number].plan->name;
  auto link = std::minmax(name, other);
  if (is_up) {
    links_.insert({link.first, link.second});
    return on_change();
  }
  if (links_.erase({link.first, link.second}) == 0) return;
  judge(fmt::format("the link between gateways {} and {} broke ({})", name, other, why));
}

void HubGateways::lose(std::size_t number, const std::string& why) {
  Gateway& gateway = gateways_[number];
  if (closed_ || gateway.lost) return;
  gateway.lost = true;
  vigil_.dismiss(static_cast<std::uint32_t>(number));
  if (gateway.link) gateway.link->close();
  std::erase_if(links_, [&](const auto& link) {
    return link.first == gateway.plan->name || link.second == gateway.plan->name;
  });
  judge(fmt::format("{} {}", title(gateway), why));
}

// A gateway or a link was lost: reports it, and ends the job if clusters are apart now.
void HubGateways::judge(const std::string& sentence) {
  if (closed_) return;
  if (starting_) return handlers_.on_start_failed(sentence);
  if (joins_all()) return handlers_.on_notice(sentence + "; another way is left, the job goes on");
  handlers_.on_lost(sentence);
}

// From each cluster some links lead to each other one, and the hub reaches a gateway of its own.
bool HubGateways::joins_all() const {
  const bootstrap::JobMap& map = plan_.program.map;
  bool reached_by_hub = std::any_of(gateways_.begin(), gateways_.end(), [&](const Gateway& one) {
    return one.plan->cluster == own_cluster_ && one.carries && !one.lost;
  });
  if (!reached_by_hub) return false;
  for (std::uint32_t from = 0; from < map.clusters.size(); ++from) {
    std::set<std::string> seen;
    std::vector<std::string> next;
    for (const Gateway& one : gateways_)
      if (one.plan->cluster == from && !one.lost) next.push_back(one.plan->name);
    std::set<std::uint32_t> clusters;
    while (!next.empty()) {
      std::string name = next.back();
      next.pop_back();
      if (!seen.insert(name).second) continue;
      for (const Gateway& one : gateways_) {
        if (one.plan->name == name) clusters.insert(one.plan->cluster);
        auto link = std::minmax(name, one.plan->name);
        if (links_.contains({link.first, link.second})) next.push_back(one.plan->name);
      }
    }
    if (clusters.size() != map.clusters.size()) return false;
  }
  return true;
}

void HubGateways::on_agent_end(std::size_t number, int status) {
  Gateway& gateway = gateways_[number];
  if (!starting_ || closed_ || gateway.link) return;
  handlers_.on_start_failed(
      explain_agent(plan_, gateway.agent->command(), status, gateway.agent->said()));
}

void HubGateways::tick() {
  tick_.set_in(vigil_.period_ms());
  std::uint64_t now = now_ms();
  for (std::uint32_t number = 0; number < gateways_.size(); ++number) {
    Link* link = gateways_[number].link.get();
    if (!link || !link->is_open()) continue;
    vigil_.heard(number, link->heard_at_ms());
    vigil_.answered(number, link->answered_at_ms());
    if (now - link->sent_at_ms() >= vigil_.period_ms())
      link->send(encode_message<HostCommand>(command::Beat{}));
  }
  for (std::uint32_t number : vigil_.look(now)) {
    lose(number, fmt::format("has been silent for {:.1f} s ({})",
                             static_cast<double>(vigil_.silence_ms(number)) / 1000,
                             vigil_.answers(number) ? "it is stopped or gets no processor"
                                                    : "host down or link cut"));
  }
}

// Gateways of other clusters hear of the end through gateways of the hub's own cluster.
void HubGateways::close() {
  if (closed_) return;
  closed_ = true;
  tick_.clear();
  for (Gateway& gateway : gateways_) {
    if (!plan_.stats || !gateway.link || !gateway.link->is_open()) continue;
    gateway.link->send(encode_message<HostCommand>(command::End{}));
    ++last_words_;
  }
  if (last_words_ == 0) return let_go();
  let_go_.set_in(kLastWordsMs);
}

void HubGateways::let_go() {
  let_go_.clear();
  for (Gateway& gateway : gateways_) {
    if (gateway.link && gateway.plan->cluster != own_cluster_) gateway.link->close();
    if (gateway.agent) gateway.agent->hang_up();
  }
  close_own_at_ms_ = now_ms() + kOthersEndMs;
  close_own();
}

void HubGateways::close_own() {
  bool others_end = std::any_of(gateways_.begin(), gateways_.end(), [this](const Gateway& one) {
    return one.plan->cluster != own_cluster_ && one.agent && one.agent->pid() != 0;
  });
  if (others_end && now_ms() < close_own_at_ms_) return close_own_.set_in(kLookMs);
  for (Gateway& gateway : gateways_)
    if (gateway.link) gateway.link->close();
  network_.reset();
}

void HubGateways::kill_agents() {
  for (Gateway& gateway : gateways_)
    if (gateway.agent) gateway.agent->signal(SIGKILL);
}

bool HubGateways::finished() const {
  return std::all_of(gateways_.begin(), gateways_.end(), [](const Gateway& gateway) {
    return !gateway.agent || gateway.agent->pid() == 0;
  });
}

std::vector<pid_t> HubGateways::processes() const {
  std::vector<pid_t> all;
  for (const Gateway& gateway : gateways_)
    if (gateway.agent && gateway.agent->pid() != 0) all.push_back(gateway.agent->pid());
  return all;
}

}  // namespace terrane::tools
