#include "tools/launch/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "bootstrap/this_host.h"
#include "tools/launch/addresses.h"

namespace terrane::tools {
namespace {

constexpr std::uint32_t kLowest = 1024;  // those below belong to root
constexpr std::uint32_t kHighest = 65535;

bool read_number(std::string_view text, std::uint32_t& number) {
  auto [at, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && at == text.data() + text.size();
}

void set_port(sockaddr_storage& address, std::uint16_t port) {
  if (address.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
}

}  // namespace

std::string PortRange::text() const { return fmt::format("{}-{}", low, high); }

base::Result<PortRange> parse_ports(const std::string& what, const std::string& text) {
  std::uint32_t low = 0, high = 0;
  std::size_t hyphen = text.find('-');
  std::string_view all(text);
  bool good = hyphen == std::string::npos ? read_number(all, low) && read_number(all, high)
                                          : read_number(all.substr(0, hyphen), low) &&
                                                read_number(all.substr(hyphen + 1), high);
  if (!good || low < kLowest || high > kHighest || low > high)
    return base::error("{} {}: must be ports from {} to {}, such as 40000-40999", what, text,
                       kLowest, kHighest);
  return PortRange{static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high)};
}

PortRange ports_of_environment() {
  const char* text = std::getenv(kPortsVariable);
  if (!text) return {};
  auto range = parse_ports(kPortsVariable, text);
  return range ? range.value() : PortRange{};
}

bool bind_in(int fd, const sockaddr_storage& address, PortRange range) {
  sockaddr_storage place = address;
  for (std::uint32_t port = range.low; port <= range.high; ++port) {
    if (!range.is_any()) set_port(place, static_cast<std::uint16_t>(port));
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), address_size(place)) == 0)
      return true;
    if (range.is_any() || errno != EADDRINUSE) return false;
  }
  return false;
}

namespace {

constexpr int kBacklog = 128;

base::UniqueFd listen_at(int family, PortRange range, sockaddr_storage& address) {
  base::UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return socket;
  if (family == AF_INET6) {
    int off = 0;
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  // A port that a connection of an ended job still holds (TIME_WAIT) is free.
  int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  address = {};
  address.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = address_size(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  bool bound = bind_in(socket.get(), address, range) && ::listen(socket.get(), kBacklog) == 0 &&
               ::getsockname(socket.get(), generic, &size) == 0;
  if (!bound) socket.reset();
  return socket;
}

}  // namespace

base::UniqueFd listen_everywhere(PortRange range, std::uint16_t& port) {
  sockaddr_storage address{};
  base::UniqueFd listener = listen_at(AF_INET6, range, address);
  if (!listener) listener = listen_at(AF_INET, range, address);  // a host without IPv6
  port = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
  return listener;
}

base::Error cannot_listen(const std::string& what, PortRange range) {
  if (range.is_any() || errno != EADDRINUSE) return base::errno_error(what);
  return base::error("{} on {}: no port from {} to {} is free; give another range: --port LOW-HIGH",
                     what, bootstrap::this_hosts_name(), range.low, range.high);
}

}  // namespace terrane::tools
