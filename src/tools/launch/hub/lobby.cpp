#include "tools/launch/hub/lobby.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "tools/launch/addresses.h"
#include "tools/launch/codec.h"
#include "tools/launch/ports.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxVisitors = 64;  // at once; the oldest makes room
constexpr std::uint64_t kVisitMs = 5000;  // to prove and introduce oneself
constexpr std::uint64_t kCleanEveryMs = 100;
constexpr int kAcceptsATurn = 32;
constexpr std::size_t kMaxIntroductionBytes = 8192;

}  // namespace

Lobby::Lobby(Loop& loop, const stream::Secret& secret, Handlers handlers)
    : loop_(loop),
      secret_(secret),
      handlers_(std::move(handlers)),
      clean_(loop, [this] { clean_up(); }) {}

base::Result<> Lobby::open() {
  listener_ = listen_everywhere(ports_of_environment(), port_);
  if (!listener_)
    return cannot_listen("cannot listen for the other hosts of the job", ports_of_environment());
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_all(); });
  return {};
}

void Lobby::close() {
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
  for (Visitor& visitor : visitors_) {
    if (visitor.socket) loop_.forget(visitor.socket.get());
  }
  visitors_.clear();
  clean_.clear();
}

void Lobby::accept_all() {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    base::UniqueFd socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    admit(std::move(socket));
  }
}

void Lobby::admit(base::UniqueFd socket) {
  stream::Nonce nonce;
  if (!stream::fill_random(nonce)) return;
  if (visitors_.size() >= kMaxVisitors) drop(visitors_.begin());
  stream::Handshake handshake = stream::Handshake::of_hub(secret_, nonce);
  std::vector<std::byte> greeting = std::exchange(handshake.out, {});
  // A fresh connection has room for so few bytes.
  if (::send(socket.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) return;
  visitors_.push_back({std::move(socket), std::move(handshake), nullptr, now_ms() + kVisitMs});
  At visitor = std::prev(visitors_.end());
  loop_.watch(visitor->socket.get(), EPOLLIN, [this, visitor](std::uint32_t) { prove(visitor); });
  if (!clean_.is_set()) clean_.set_in(kCleanEveryMs);
}

void Lobby::prove(At visitor) {
  std::byte bytes[stream::kAnswerBytes];
  std::size_t wanted = std::min(visitor->handshake.wanted(), sizeof bytes);
  ssize_t got = ::recv(visitor->socket.get(), bytes, wanted, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return drop(visitor);
  auto state = visitor->handshake.take({bytes, static_cast<std::size_t>(got)});
  if (state == stream::HandshakeState::kGoingOn) return;
  if (state == stream::HandshakeState::kRefused) {
    if (!visitor->handshake.complaint().empty()) {
      handlers_.on_stranger(visitor->handshake.complaint());
    }
    return drop(visitor);
  }
  const std::vector<std::byte>& proof = visitor->handshake.out;
  if (::send(visitor->socket.get(), proof.data(), proof.size(), MSG_NOSIGNAL) < 0) {
    return drop(visitor);
  }
  introduce(visitor);
}

void Lobby::introduce(At visitor) {
  loop_.forget(visitor->socket.get());
  visitor->link = std::make_unique<Link>(loop_, std::move(visitor->socket));
  visitor->link->set_handlers({.on_frame =
                                   [this, visitor](std::span<const std::byte> frame) {
                                     Introduction guest;
                                     Decoder decoder(frame);
                                     if (frame.size() > kMaxIntroductionBytes) return false;
                                     decoder.take(guest);
                                     if (!decoder.at_end()) return false;
                                     visitor->gone = true;  // its place here is cleaned up later
                                     clean_.set_in(0);
                                     std::unique_ptr<Link> link = std::move(visitor->link);
                                     link->set_handlers({});  // it goes on without that place
                                     handlers_.on_guest(std::move(link), guest);
                                     return true;
                                   },
                               .on_closed =
                                   [this, visitor](const std::string&) {
                                     visitor->gone = true;
                                     clean_.set_in(0);
                                   }});
}

void Lobby::drop(At visitor) {
  if (visitor->socket) loop_.forget(visitor->socket.get());
  visitors_.erase(visitor);
}

void Lobby::clean_up() {
  std::uint64_t now = now_ms();
  for (At at = visitors_.begin(); at != visitors_.end();) {
    At visitor = at++;
    if (visitor->gone || visitor->until_ms <= now) drop(visitor);
  }
  if (!visitors_.empty()) clean_.set_in(kCleanEveryMs);
}

}  // namespace terrane::tools
