#include "clusters/sockets.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace terrane::bench {
namespace {

void no_delay(int socket) {
  int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

void give_up(const std::string& what) {
  int code = errno;
  fmt::print(stderr, "relay_rows: {}{}{}\n", what, code != 0 ? ": " : "",
             code != 0 ? std::strerror(code) : "");
  std::_Exit(1);
}

base::UniqueFd listen_on(std::uint16_t port) {
  base::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!listener || ::bind(listener.get(), any, size) < 0 || ::listen(listener.get(), 64) < 0 ||
      ::getsockname(listener.get(), any, &size) < 0) {
    give_up(fmt::format("cannot listen on port {}", port));
  }
  fmt::print("port={}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

base::UniqueFd accept_one(int listener) {
  base::UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) give_up("cannot accept a connection");
  no_delay(socket.get());
  return socket;
}

base::UniqueFd dial(const std::string& address) {
  std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) give_up(address + " is not HOST:PORT");
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    give_up(host + " is no host");
  }
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) < 0) {
    give_up("cannot connect to " + address);
  }
  ::freeaddrinfo(found);
  no_delay(socket.get());
  return socket;
}

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void wait_until(std::uint64_t due_ns) {
  for (std::uint64_t now; (now = now_ns()) < due_ns;) {
    if (due_ns - now <= kWakeUp_ns) continue;
    std::uint64_t sleep_ns = due_ns - now - kWakeUp_ns;
    timespec pause{static_cast<time_t>(sleep_ns / 1'000'000'000),
                   static_cast<long>(sleep_ns % 1'000'000'000)};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace terrane::bench
