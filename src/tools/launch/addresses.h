#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrane::tools {

// An address in numbers, IPv4 also where it came mapped into IPv6.
std::string address_text(const sockaddr_storage& address);

// From an address in numbers; nullopt: it is none.
std::optional<sockaddr_storage> parse_address(const std::string& text, std::uint16_t port);
// The same as IPv6, IPv4 mapped into it: for sockets that serve both.
std::optional<sockaddr_storage> parse_address_as_ipv6(const std::string& text, std::uint16_t port);
socklen_t address_size(const sockaddr_storage& address);

// Of all interfaces of this host that are up, in numbers: IPv4 first, those that reach this host
// alone last. Without addresses that hold on one link only.
std::vector<std::string> own_addresses();

// Whether a name or an address of a host means this one: its host name (also up to the first dot),
// "localhost", or an address of one of its interfaces. Asks no name server.
bool is_this_host(const std::string& name);

}  // namespace terrane::tools
