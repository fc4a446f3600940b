#include "stream/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace terrane::stream {
namespace {

const in6_addr& ip6_of(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
}

}  // namespace

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                sizeof text);
  } else if (address.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ip6_of(address))) {
    ::inet_ntop(AF_INET, ip6_of(address).s6_addr + 12, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &ip6_of(address), text, sizeof text);
  }
  return text;
}

std::optional<sockaddr_storage> parse_address(const std::string& text, std::uint16_t port) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) != 1) return std::nullopt;
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  return address;
}

std::optional<sockaddr_storage> parse_address_as_ipv6(const std::string& text, std::uint16_t port) {
  if (auto mapped = parse_address("::ffff:" + text, port)) return mapped;
  return parse_address(text, port);
}

socklen_t address_size(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

}  // namespace terrane::stream
