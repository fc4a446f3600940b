#include "strangers/tls_port.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <list>
#include <vector>

#include "base/check.h"

namespace terrane::strangers {
namespace {

struct Visitor {
  base::UniqueFd socket;
  stream::TlsSession side;

  // False: the connection is to be closed.
  bool hear() {
    std::byte wire[4096], plain[4096];
    ssize_t got = ::recv(socket.get(), wire, sizeof wire, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    auto rest = std::span<const std::byte>(wire).first(static_cast<std::size_t>(got));
    for (stream::TlsSession::Taken taken{1, 0}; taken.wire + taken.plain > 0;) {
      taken = side.take(rest, plain);
      rest = rest.subspan(taken.wire);
    }
    ssize_t sent = ::send(socket.get(), side.out().data(), side.out().size(), MSG_NOSIGNAL);
    side.sent(side.out().size());
    return sent >= 0 && side.state() != stream::TlsState::kRefused;
  }
};

}  // namespace

TlsPort::TlsPort(const stream::TlsKey& key)
    : key_(key),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  TERRANE_CHECK(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 128) == 0 &&
                    ::getsockname(listener_.get(), any, &size) == 0,
                "a test may listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

TlsPort::~TlsPort() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void TlsPort::serve() {
  std::list<Visitor> visitors;
  for (;;) {
    std::vector<pollfd> ready{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Visitor& visitor : visitors) ready.push_back({visitor.socket.get(), POLLIN, 0});
    ::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0) return;
    std::size_t at = 2;
    for (auto visitor = visitors.begin(); visitor != visitors.end(); ++at) {
      bool stays = ready[at].revents == 0 || visitor->hear();
      visitor = stays ? std::next(visitor) : visitors.erase(visitor);
    }
    base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket) visitors.push_back({std::move(socket), {key_, stream::TlsRole::kServer}});
  }
}

}  // namespace terrane::strangers
