#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace terrane::stream {

// An address in numbers, IPv4 also where it came mapped into IPv6.
std::string address_text(const sockaddr_storage& address);

// From an address in numbers; nullopt: it is none.
std::optional<sockaddr_storage> parse_address(const std::string& text, std::uint16_t port);
// The same as IPv6, IPv4 mapped into it: for sockets that serve both.
std::optional<sockaddr_storage> parse_address_as_ipv6(const std::string& text, std::uint16_t port);
socklen_t address_size(const sockaddr_storage& address);

}  // namespace terrane::stream
