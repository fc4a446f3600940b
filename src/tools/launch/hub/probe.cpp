#include "tools/launch/hub/probe.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tools/launch/addresses.h"
#include "tools/launch/loop.h"

namespace terrane::tools {
namespace {

constexpr int kWaitingProbes = 4096;
// More than a host is asked before it counts as dead.
constexpr std::size_t kMostSockets = 8;

}  // namespace

std::uint64_t answered_at_ms(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (info.tcpi_state != TCP_ESTABLISHED && info.tcpi_state != TCP_CLOSE_WAIT) return 0;
  std::uint64_t now = now_ms();
  // With nothing under way there is nothing to acknowledge. (So it is while the other end has no
  // room for more: the kernel then asks for room ever more seldom.)
  if (info.tcpi_unacked == 0) return now;
  return now - std::min<std::uint64_t>(info.tcpi_last_ack_recv, now);
}

void Probe::connect(const sockaddr_storage& listener) {
  base::UniqueFd socket(
      ::socket(listener.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  bool begun = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&listener),
                         address_size(listener)) == 0 ||
               errno == EINPROGRESS;
  if (!begun) return;
  if (sockets_.size() == kMostSockets) sockets_.erase(sockets_.begin());
  sockets_.push_back(std::move(socket));
}

void Probe::ask(const sockaddr_storage& listener) {
  bool is_answered = answered_at_ms() >= asked_at_ms_;
  asked_at_ms_ = now_ms();
  std::erase_if(sockets_, [](const base::UniqueFd& socket) {
    char byte = 0;
    ssize_t sent = ::send(socket.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 && errno != EAGAIN && errno != EINTR;
  });
  if (sockets_.empty() || !is_answered) connect(listener);
}

std::uint64_t Probe::answered_at_ms() {
  for (const base::UniqueFd& socket : sockets_)
    answered_at_ms_ = std::max(answered_at_ms_, tools::answered_at_ms(socket.get()));
  return answered_at_ms_;
}

base::UniqueFd listen_for_probes(const sockaddr_storage& address, PortRange ports) {
  base::UniqueFd listener(
      ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int off = 0;
  if (address.ss_family == AF_INET6)
    ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  bool listens = listener && bind_in(listener.get(), address, ports) &&
                 ::listen(listener.get(), kWaitingProbes) == 0;
  if (!listens) listener.reset();
  return listener;
}

void dismiss_probes(int listener) {
  for (int fd; (fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    ::close(fd);
  }
}

}  // namespace terrane::tools
