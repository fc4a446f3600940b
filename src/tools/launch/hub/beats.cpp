#include "tools/launch/hub/beats.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>

#include <chrono>
#include <system_error>

#include "base/signals_blocked.h"
#include "tools/launch/addresses.h"

namespace terrane::tools {

namespace {

constexpr int kPortTries = 64;

std::uint16_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

Beats::Beats(Loop& loop, const stream::Secret& secret,
             std::function<void(std::uint32_t, Silence)> on_silent)
    : loop_(loop),
      secret_(secret),
      on_silent_(std::move(on_silent)),
      tick_(loop, [this] { tick(); }) {}

// The probes' listener has the number of the UDP port, so that the others need to know one alone.
bool Beats::bind_both(int family, PortRange range) {
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  listener_ = listen_for_probes(address, range);
  socklen_t size = sizeof address;
  if (!listener_ ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return false;
  }
  socket_.reset(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int off = 0;
  if (family == AF_INET6) ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  port_ = port_of(address);
  family_ = family;
  return socket_ && ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                           address_size(address)) == 0;
}

base::Result<> Beats::open() {
  bool bound = false;
  PortRange range = ports_of_environment();
  for (int tries = 0; !bound && tries < kPortTries; ++tries) {
    bound = bind_both(AF_INET6, range) || bind_both(AF_INET, range);  // a host may be without IPv6
    if (bound || range.is_any()) continue;
    if (!listener_ || port_ == range.high) break;
    range.low = static_cast<std::uint16_t>(port_ + 1);  // another process has the UDP port
  }
  bool watched = bound && loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { hear(); }) &&
                 loop_.watch(listener_.get(), EPOLLIN,
                             [this](std::uint32_t) { dismiss_probes(listener_.get()); });
  if (!watched)
    return cannot_listen("cannot make the sockets for heartbeats", ports_of_environment());
  return {};
}

void Beats::start(const std::vector<PeerAddress>& peers, std::uint32_t own_host,
                  const std::string& hub_address, std::uint64_t limit_ms,
                  std::uint64_t late_limit_ms) {
  own_host_ = own_host;
  vigil_ = Vigil(static_cast<std::uint32_t>(peers.size()), limit_ms, late_limit_ms);
  peers_.resize(peers.size());
  for (std::uint32_t host = 0; host < peers.size(); ++host) {
    if (host == own_host || peers[host].port == 0) continue;
    const std::string& text = peers[host].address.empty() ? hub_address : peers[host].address;
    auto address = family_ == AF_INET6 ? parse_address_as_ipv6(text, peers[host].port)
                                       : parse_address(text, peers[host].port);
    if (!address) continue;
    peers_[host].address = *address;
    peers_[host].known = true;
  }
  start_speaker();
  tick();
}

// Where no thread can be made, the loop speaks.
void Beats::start_speaker() {
  base::SignalsBlocked blocked;  // signals are for the loop's thread
  try {
    speaker_ = std::jthread([this, period = vigil_.period_ms()](std::stop_token stop) {
      std::unique_lock lock(addresses_);
      while (!stop.stop_requested()) {
        speak();
        pause_.wait_for(lock, stop, std::chrono::milliseconds(period), [] { return false; });
      }
    });
  } catch (const std::system_error&) {
  }
}

void Beats::stop() {
  tick_.clear();
  if (speaker_.joinable()) {
    speaker_.request_stop();
    speaker_.join();
  }
  for (base::UniqueFd* socket : {&socket_, &listener_}) {
    if (*socket) loop_.forget(socket->get());
    socket->reset();
  }
}

void Beats::speak() {
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    if (!peer.known) continue;
    auto packet = encode_beat({.from = own_host_, .to = host, .number = ++peer.sent}, secret_);
    ::sendto(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peer.address), address_size(peer.address));
  }
}

void Beats::hear() {
  std::byte packet[2 * kBeatBytes];
  sockaddr_storage from{};
  for (;;) {
    socklen_t size = sizeof from;
    ssize_t got = ::recvfrom(socket_.get(), packet, sizeof packet, 0,
                             reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return;  // nothing more, or an old packet of ours did not arrive
    auto beat = decode_beat({packet, static_cast<std::size_t>(got)}, secret_);
    bool ours = beat && beat->to == own_host_ && beat->from < peers_.size();
    if (!ours || beat->number <= peers_[beat->from].heard) continue;
    Peer& peer = peers_[beat->from];
    peer.heard = beat->number;
    {
      std::lock_guard lock(addresses_);
      peer.address = from;  // what reaches us is where it is
      peer.known = true;
    }
    vigil_.heard(beat->from, now_ms());
  }
}

void Beats::tick() {
  tick_.set_in(vigil_.period_ms());
  if (!speaker_.joinable()) speak();
  hear();  // what has come while we did not run counts
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    vigil_.answered(host, peers_[host].probe.answered_at_ms());
  }
  for (std::uint32_t host : vigil_.look(now_ms())) {
    vigil_.dismiss(host);
    on_silent_(host, {vigil_.silence_ms(host), vigil_.answers(host)});
  }
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    if (vigil_.is_late(host)) {
      peer.probe.ask(peer.address);
    } else {
      peer.probe.rest();
    }
  }
}

}  // namespace terrane::tools
