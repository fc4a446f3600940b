#include "tools/launch/hub/engine_bridge.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "platform/quiet_thread.h"
#include "stream/dial.h"
#include "tools/launch/dial.h"
#include "tools/launch/gateways/hub_gateways.h"
#include "transport/routed/hello.h"
#include "transport/routed/reach.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kFarewellMs = 1000;
constexpr std::uint64_t kPokeMs = 5;

}  // namespace

EngineBridge::EngineBridge(std::uint32_t host, std::uint64_t window, std::uint32_t ways)
    : end_(routing::Address::of_engine(host), window, ways) {}

base::Result<std::unique_ptr<EngineBridge>> EngineBridge::start(const EngineRoute& route,
                                                                std::uint32_t host,
                                                                const stream::Secret& secret,
                                                                std::uint64_t timeout_ms,
                                                                int lifeline) {
  auto ways = static_cast<std::uint32_t>(route.gateways.size());
  std::unique_ptr<EngineBridge> made(new EngineBridge(host, route.window, ways));
  if (auto opened = made->open(); !opened) return opened.error();
  stream::Credentials credentials{gateway_secret(secret)};
  if (route.encrypt) {
    auto key = stream::TlsKey::derive(credentials.secret, "gateway");
    if (!key) return key.error();
    credentials.key = std::move(key).value();
  }
  std::vector<stream::Door> doors;
  for (const bootstrap::GatewayDoor& door : route.gateways)
    doors.push_back({door.addresses, door.port});
  auto ours = transport::routed::hello_of(routing::Address::of_engine(host), route.window);
  auto reached = transport::routed::reach_gateways(made->end_, doors, credentials, ours,
                                                   {timeout_ms, starter_has_gone, lifeline});
  if (!reached) return base::error("of this cluster: {}", reached.error().message);
  auto socket = made->bridge_->open(routing::Address::of_hub());
  if (!socket) return socket.error();
  made->socket_ = std::move(socket).value();
  made->thread_ = platform::start_without_signals([bridge = made.get()] { bridge->run(); });
  return made;
}

base::Result<> EngineBridge::open() {
  auto loop = Loop::create();
  if (!loop) return loop.error();
  loop_ = std::move(loop).value();
  if (auto opened = end_.open(); !opened) return opened;
  stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_) return base::errno_error("cannot make a descriptor for a thread's end");
  bridge_ = std::make_unique<StreamBridge>(
      *loop_,
      StreamBridge::Network{
          .send = [this](routing::Address to, std::uint16_t tag,
                         routing::Bytes message) { end_.send(to, tag, message, {}); },
          .is_full = [this](routing::Address to) { return end_.is_full(to); }},
      nullptr);
  loop_->watch(end_.poll_fd(), EPOLLIN, [this](std::uint32_t) { end_.take_in(*this); });
  loop_->watch(stop_.get(), EPOLLIN, [this](std::uint32_t) { stopping_ = true; });
  return {};
}

EngineBridge::~EngineBridge() {
  std::uint64_t one = 1;
  if (stop_) [[maybe_unused]]
    auto written = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

// What the engine wrote last still goes out.
void EngineBridge::run() {
  end_.take_in(*this);  // what came behind the hellos
  while (!stopping_) loop_->turn();
  look_ = std::make_unique<Timer>(*loop_, [this] { look_->set_in(kPokeMs); });
  look_->set_in(kPokeMs);
  loop_->forget(stop_.get());
  bool said_bye = false;
  for (std::uint64_t until = now_ms() + kFarewellMs; now_ms() < until && end_.is_connected();) {
    if (said_bye && end_.is_idle()) return;
    if (bridge_->is_idle() && !std::exchange(said_bye, true)) end_.bye();
    loop_->turn();
  }
}

void EngineBridge::message(routing::Address from, std::uint16_t tag, routing::Bytes message) {
  bridge_->message(from, tag, message);
}

void EngineBridge::lost(routing::Address peer, const std::string&) { bridge_->lost(peer); }

}  // namespace terrane::tools
