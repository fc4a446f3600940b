#include "tools/gateway/gateway.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "routing/splitter.h"
#include "stream/dial.h"
#include "tools/gateway/entrance.h"
#include "tools/gateway/kernel_buffers.h"
#include "tools/gateway/own_end.h"
#include "tools/gateway/ports.h"
#include "tools/gateway/watched.h"
#include "tools/launch/addresses.h"
#include "tools/launch/codec.h"
#include "tools/launch/dial.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/gateways/gateway_address.h"
#include "tools/launch/gateways/hub_gateways.h"
#include "tools/launch/guests/introduction.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/link.h"
#include "transport/routed/hello.h"

namespace terrane::tools {
namespace {

namespace routed = transport::routed;

// One gateway: its entrances, the ports of its neighbours, and the link to the hub.
class Gateway {
 public:
  Gateway(const GatewayOptions& options, const stream::Secret& secret, Loop& loop)
      : options_(options),
        secret_(secret),
        loop_(loop),
        address_(gateway_address(options.name)),
        vigil_(1, std::max<std::uint64_t>(options.heartbeat_ms, 1), options.death_after_ms),
        tick_(loop, [this] { tick(); }) {}

  base::Result<> start();
  int run() {
    while (!done_) loop_.turn();
    return exit_code_;
  }

 private:
  base::Result<> open_entrances();
  base::Result<> dial_gateways();
  base::Result<> reach_hub();
  base::Result<> reach_hub_by_gateways();
  routed::Hello hello() const { return routed::hello_of(address_, window_, options_.name); }
  void take_guest(std::unique_ptr<stream::Connection> guest, const routed::Hello& theirs,
                  bool is_link);
  void refuse(std::unique_ptr<stream::Connection> guest, std::string sentence);
  void prove_to_hub();
  void introduce(base::UniqueFd socket);
  bool on_command(std::span<const std::byte> frame);
  void report(const HostEvent& event) {
    if (hub_) hub_->send(encode_message(event));
  }
  void end(int exit_code) {
    done_ = true;
    exit_code_ = exit_code;
  }
  std::string describe_work() const;
  void tick();

  const GatewayOptions& options_;
  const stream::Secret& secret_;
  Loop& loop_;
  routing::Address address_;
  std::uint64_t window_ = 0;
  stream::Credentials inner_, link_;
  std::optional<Entrance> inner_entrance_, link_entrance_;
  std::optional<Ports> ports_;
  std::optional<OwnEnd> own_end_;                // where the hub is reached through gateways
  std::unique_ptr<stream::Connection> proving_;  // the stream to the hub, until it is proved
  std::vector<std::unique_ptr<stream::Connection>> refused_;
  std::unique_ptr<Link> hub_;
  Vigil vigil_;
  Timer tick_;
  bool done_ = false;
  int exit_code_ = 0;
};

base::Result<> Gateway::start() {
  inner_.secret = gateway_secret(secret_);
  if (options_.encrypt) {
    auto key = stream::TlsKey::derive(inner_.secret, "gateway");
    if (!key) return key.error();
    inner_.key = std::move(key).value();
  }
  auto key = stream::TlsKey::derive(secret_, "link");
  if (!key) return key.error();
  link_ = {secret_, std::move(key).value()};
  window_ = options_.window;
  if (auto dialed = dial_gateways(); !dialed) return dialed;
  if (auto small = small_buffers(window_, "/proc/sys/net/ipv4"))
    base::log("gateway {}: {}", options_.name, *small);
  if (auto opened = open_entrances(); !opened) return opened;
  return options_.hub.empty() ? reach_hub_by_gateways() : reach_hub();
}

// The first of them says how much of a pair may be on its way, where this gateway does not know.
base::Result<> Gateway::dial_gateways() {
  std::vector<std::pair<std::unique_ptr<stream::Connection>, routed::Hello>> reached;
  for (const bootstrap::GatewayDoor& door : options_.via) {
    stream::DialLimits limits{.timeout_ms = options_.dial_timeout_ms,
                              .lifeline = options_.lifeline};
    auto connection = stream::dial({door.addresses, door.port}, link_, limits);
    if (!connection)
      return base::error("gateway {} reaches no other one at {}", options_.name,
                         connection.error().message);
    auto theirs = routed::exchange_hello(*connection.value(), hello(), options_.dial_timeout_ms);
    if (!theirs)
      return base::error("gateway {}, from the one at port {} of {}: {}", options_.name, door.port,
                         door.addresses.front(), theirs.error().message);
    if (window_ == 0) window_ = theirs.value().window;
    reached.emplace_back(std::move(connection).value(), std::move(theirs).value());
  }
  if (window_ == 0) return base::error("gateway {} has no other one to dial: --via", options_.name);
  ports_.emplace(
      loop_, routing::Router(address_, {window_}), options_.heartbeat_ms,
      Ports::Handlers{
          .on_link = [this](const std::string& name) { report(event::GatewayLinked{name}); },
          .on_unlink =
              [this](const std::string& name, const std::string& why) {
                report(event::GatewayUnlinked{name, why});
              }});
  for (auto& [connection, theirs] : reached)
    if (!ports_->add(std::move(connection), theirs))
      return base::error("gateway {}: two of the gateways that it dials are {}", options_.name,
                         theirs.name);
  return {};
}

base::Result<> Gateway::open_entrances() {
  inner_entrance_.emplace(loop_, inner_, [this](auto guest, const routed::Hello& theirs) {
    take_guest(std::move(guest), theirs, false);
  });
  link_entrance_.emplace(loop_, link_, [this](auto guest, const routed::Hello& theirs) {
    take_guest(std::move(guest), theirs, true);
  });
  PortRange range = ports_of_environment();
  if (auto opened = inner_entrance_->open(range); !opened) return opened;
  if (options_.link_port != 0) range = {options_.link_port, options_.link_port};
  return link_entrance_->open(range);
}

void Gateway::take_guest(std::unique_ptr<stream::Connection> guest, const routed::Hello& theirs,
                         bool is_link) {
  bool fits = is_link ? theirs.address.is_gateway()
                      : theirs.address.is_node() || theirs.address.is_engine();
  if (!fits) return refuse(std::move(guest), "this is not the port for it");
  std::string objection = routed::compare_hellos(hello(), theirs);
  if (!objection.empty())
    return refuse(std::move(guest), fmt::format("gateway {} runs Terrane {}; {}", options_.name,
                                                TERRANE_VERSION, objection));
  routed::append_hello(hello(), guest->outgoing());
  guest->flush();
  if (!ports_->is_free(theirs.address)) {
    return refuse(
        std::move(guest),
        is_link ? fmt::format("gateway {} is there already; give each its own name", theirs.name)
                : "one of this number is there already");
  }
  ports_->add(std::move(guest), theirs);
}

// The sentence goes out as far as the socket takes it at once.
void Gateway::refuse(std::unique_ptr<stream::Connection> guest, std::string sentence) {
  routed::Hello no = hello();
  no.refusal = std::move(sentence);
  routed::append_hello(no, guest->outgoing());
  guest->flush();
}

base::Result<> Gateway::reach_hub() {
  const bootstrap::GatewayDoor& door = options_.hub.front();
  for (bool carries_frames : {false, true}) {
    auto socket =
        dial_hub(door.addresses, door.port, secret_, options_.dial_timeout_ms, options_.lifeline);
    if (!socket) return socket.error();
    if (!carries_frames) {
      introduce(std::move(socket).value());
      continue;
    }
    Introduction ours = introduce_ourselves();
    ours.gateway = options_.name;
    ours.carries_frames = true;
    std::vector<std::byte> introduction, bytes;
    Encoder(introduction).put(ours);
    append_frame(bytes, introduction);
    // A fresh connection has room for so few bytes.
    if (::send(socket.value().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
      return base::errno_error("cannot speak to `terrane run`");
    auto connection = stream::Connection::of_proven(std::move(socket).value());
    auto theirs = routed::answer_hello(*connection, hello(), options_.dial_timeout_ms);
    if (!theirs) return base::error("from `terrane run`: {}", theirs.error().message);
    ports_->add(std::move(connection), theirs.value());
  }
  return {};
}

base::Result<> Gateway::reach_hub_by_gateways() {
  own_end_.emplace(loop_, address_, window_, [this] { ports_->carry_own(*own_end_); });
  ports_->set_own(*own_end_);
  auto socket = own_end_->bridge().open(routing::Address::of_hub());
  if (!socket) return socket.error();
  proving_ = std::make_unique<stream::Connection>(
      std::move(socket).value(), stream::Connection::Side::kDialer, stream::Credentials{secret_});
  loop_.watch(proving_->fd(), EPOLLIN, [this](std::uint32_t) { prove_to_hub(); });
  return {};
}

void Gateway::prove_to_hub() {
  while (proving_->state() == stream::Connection::State::kProving && proving_->receive()) {
  }
  if (proving_->state() == stream::Connection::State::kProving) return;
  loop_.forget(proving_->fd());
  auto proved = std::move(proving_);
  if (proved->state() == stream::Connection::State::kOpen) return introduce(proved->release());
  base::log_line(
      fmt::format("gateway {} does not reach `terrane run`: {}", options_.name, proved->why()));
  end(kExitFailure);
}

void Gateway::introduce(base::UniqueFd socket) {
  hub_ = std::make_unique<Link>(loop_, std::move(socket));
  hub_->set_handlers(
      {.on_frame = [this](std::span<const std::byte> frame) { return on_command(frame); },
       .on_closed = [this](const std::string&) { end(exit_code_); }});
  Introduction ours = introduce_ourselves();
  ours.gateway = options_.name;
  ours.inner = {own_addresses(), inner_entrance_->port()};
  ours.link = {own_addresses(), link_entrance_->port()};
  std::vector<std::byte> introduction;
  Encoder(introduction).put(ours);
  hub_->send(introduction);
  for (const std::string& name : ports_->links()) report(event::GatewayLinked{name});
  vigil_.expect(0, now_ms());
  if (options_.heartbeat_ms != 0) tick_.set_in(vigil_.period_ms());
}

bool Gateway::on_command(std::span<const std::byte> frame) {
  auto command = decode_message<HostCommand>(frame);
  if (!command) return false;
  if (const auto* refusal = std::get_if<command::Refuse>(&*command)) {
    base::log_line(refusal->sentence);
    end(kExitFailure);
    return false;
  }
  if (std::holds_alternative<command::End>(*command)) {
    report(event::Notice{describe_work()});
    return true;
  }
  return std::holds_alternative<command::Beat>(*command);
}

std::string Gateway::describe_work() const {
  const routing::Router::Counters& counters = ports_->counters();
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return fmt::format(
      "gateway {}: carried {} frames, {:.1f} MB in {} batches, held {:.1f} MB at most; "
      "{:.3f} s of a processor, {} MB of memory at most",
      options_.name, counters.frames, static_cast<double>(counters.bytes) / 1e6, counters.batches,
      static_cast<double>(counters.most_held_bytes) / 1e6,
      seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss / 1024);
}

// Signs of life for the hub, and of the hub.
void Gateway::tick() {
  tick_.set_in(vigil_.period_ms());
  std::uint64_t now = now_ms();
  if (!hub_ || !hub_->is_open()) return;
  vigil_.heard(0, hub_->heard_at_ms());
  vigil_.answered(0, hub_->answered_at_ms());
  if (now - hub_->sent_at_ms() >= vigil_.period_ms()) report(event::Beat{});
  if (!vigil_.look(now).empty()) end(kExitFailure);
}

}  // namespace

namespace {

int work(const GatewayOptions& options, const stream::Secret& secret, std::uint64_t sign_ms,
         base::UniqueFd signs) {
  auto loop = Loop::create();
  if (!loop) {
    base::log_line(loop.error().message);
    return kExitFailure;
  }
  Gateway gateway(options, secret, *loop.value());
  if (auto started = gateway.start(); !started) {
    base::log_line(started.error().message);
    return kExitFailure;
  }
  auto give_sign = [&] { [[maybe_unused]] ssize_t written = ::write(signs.get(), ".", 1); };
  Timer sign(*loop.value(), [&] {
    give_sign();
    sign.set_in(sign_ms);
  });
  if (signs) {
    give_sign();
    sign.set_in(sign_ms);
  }
  return gateway.run();
}

}  // namespace

// It is watched for half the time after which others take it for dead, so that they lose their
// connections to it before they lose anything else.
int run_gateway(const GatewayOptions& options, const stream::Secret& secret) {
  std::uint64_t limit_ms =
      options.heartbeat_ms == 0 ? 0 : std::max<std::uint64_t>(options.death_after_ms / 2, 1);
  return run_watched(limit_ms, "gateway " + options.name, [&](base::UniqueFd signs) {
    return work(options, secret, std::max<std::uint64_t>(limit_ms / 10, 1), std::move(signs));
  });
}

}  // namespace terrane::tools
