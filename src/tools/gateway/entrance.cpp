#include "tools/gateway/entrance.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "routing/splitter.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxVisitors = 64;  // at once; the oldest makes room
constexpr std::uint64_t kVisitMs = 5000;  // to prove the secret and to send a hello
constexpr std::uint64_t kCleanEveryMs = 100;
constexpr int kAcceptsATurn = 32;

}  // namespace

Entrance::Entrance(Loop& loop, stream::Credentials credentials, OnGuest on_guest)
    : loop_(loop),
      credentials_(std::move(credentials)),
      on_guest_(std::move(on_guest)),
      clean_(loop, [this] { clean_up(); }) {}

base::Result<> Entrance::open(PortRange ports) {
  listener_ = listen_everywhere(ports, port_);
  if (!listener_) return cannot_listen("cannot listen as a gateway", ports);
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_all(); });
  return {};
}

void Entrance::close() {
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
  while (!visitors_.empty()) drop(visitors_.begin());
  clean_.clear();
}

void Entrance::accept_all() {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    base::UniqueFd socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    admit(std::move(socket));
  }
}

void Entrance::admit(base::UniqueFd socket) {
  if (visitors_.size() >= kMaxVisitors) drop(visitors_.begin());
  visitors_.push_back({std::make_unique<stream::Connection>(
                           std::move(socket), stream::Connection::Side::kListener, credentials_),
                       now_ms() + kVisitMs});
  At visitor = std::prev(visitors_.end());
  visitor->connection->flush();
  loop_.watch(visitor->connection->fd(), EPOLLIN,
              [this, visitor](std::uint32_t) { hear(visitor); });
  if (!clean_.is_set()) clean_.set_in(kCleanEveryMs);
}

void Entrance::hear(At visitor) {
  stream::Connection& connection = *visitor->connection;
  connection.flush();
  connection.receive();
  if (connection.state() == stream::Connection::State::kClosed) return drop(visitor);
  routing::Splitter splitter(connection.readable());
  auto frame = splitter.next();
  if (!frame && !splitter.malformed()) return;
  auto hello =
      frame ? transport::routed::decode_hello(frame->header, frame->payload) : std::nullopt;
  if (!hello) return drop(visitor);
  connection.consume(splitter.used());
  loop_.forget(connection.fd());
  auto guest = std::move(visitor->connection);
  visitors_.erase(visitor);
  on_guest_(std::move(guest), std::move(*hello));
}

void Entrance::drop(At visitor) {
  loop_.forget(visitor->connection->fd());
  visitors_.erase(visitor);
}

void Entrance::clean_up() {
  std::uint64_t now = now_ms();
  for (At at = visitors_.begin(); at != visitors_.end();) {
    At visitor = at++;
    if (visitor->until_ms <= now) drop(visitor);
  }
  if (!visitors_.empty()) clean_.set_in(kCleanEveryMs);
}

}  // namespace terrane::tools
