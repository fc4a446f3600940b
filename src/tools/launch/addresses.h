#pragma once

#include <string>
#include <vector>

#include "stream/socket_address.h"

namespace terrane::tools {

using stream::address_size;
using stream::address_text;
using stream::parse_address;
using stream::parse_address_as_ipv6;

// Of all interfaces of this host that are up, in numbers: IPv4 first, those that reach this host
// alone last. Without addresses that hold on one link only.
std::vector<std::string> own_addresses();

// Whether a name or an address of a host means this one: its host name (also up to the first dot),
// "localhost", or an address of one of its interfaces. Asks no name server.
bool is_this_host(const std::string& name);

}  // namespace terrane::tools
