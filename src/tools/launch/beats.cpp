#include "tools/launch/beats.h"

#include <netinet/in.h>
#include <sys/epoll.h>

#include <cerrno>

#include "tools/launch/addresses.h"

namespace terrane::tools {

Beats::Beats(Loop& loop, const Secret& secret, std::function<void(std::uint32_t)> on_silent)
    : loop_(loop),
      secret_(secret),
      on_silent_(std::move(on_silent)),
      tick_(loop, [this] { tick(); }) {}

base::Result<> Beats::open() {
  sockaddr_storage address{};
  for (int family : {AF_INET6, AF_INET}) {  // a host may be without IPv6
    family_ = family;
    socket_.reset(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int off = 0;
    if (family == AF_INET6 && socket_) {
      ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    address = {};
    address.ss_family = static_cast<sa_family_t>(family);
    bool bound = socket_ && ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address),
                                   address_size(address)) == 0;
    if (bound) break;
    socket_.reset();
  }
  socklen_t size = sizeof address;
  if (!socket_ || ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return base::errno_error("cannot make the socket for heartbeats");
  }
  port_ = ntohs(family_ == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                    : reinterpret_cast<sockaddr_in&>(address).sin_port);
  loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { hear(); });
  return {};
}

void Beats::start(const std::vector<PeerAddress>& peers, std::uint32_t own_host,
                  const std::string& hub_address, std::uint64_t limit_ms) {
  own_host_ = own_host;
  vigil_ = Vigil(static_cast<std::uint32_t>(peers.size()), limit_ms);
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
  tick();
}

void Beats::stop() {
  tick_.clear();
  if (socket_) loop_.forget(socket_.get());
  socket_.reset();
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
    peer.address = from;  // what reaches us is where it is
    peer.known = true;
    vigil_.heard(beat->from, now_ms());
  }
}

void Beats::tick() {
  tick_.set_in(vigil_.period_ms());
  hear();  // what has come while we did not run counts
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    if (!peer.known) continue;
    auto packet = encode_beat({.from = own_host_, .to = host, .number = ++peer.sent}, secret_);
    ::sendto(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peer.address), address_size(peer.address));
  }
  for (std::uint32_t host : vigil_.look(now_ms())) {
    vigil_.dismiss(host);
    on_silent_(host);
  }
}

}  // namespace terrane::tools
