#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/hosts/host_options.h"

namespace terrane::test_hosts {

// The network of the test hosts, made by `ip` and `tc`: a bridge for each link in the network
// namespace of the switch, and an interface of each host behind a port of that bridge. Every
// function acts on the network namespace of the process that calls it.

// In the switch: bridges, ports, and the interfaces, put into the hosts' namespaces, which are
// those of the processes `keepers`.
base::Result<> make_switch(const HostOptions& options, const std::vector<pid_t>& keepers);

// In a host: its addresses, and everything up.
base::Result<> make_interfaces(const HostOptions& options, std::uint32_t host);

// In the switch: what becomes of packets between two clusters.
base::Result<> set_crossing(const HostOptions& options, std::uint32_t from, std::uint32_t to,
                            LinkState state);

// In the switch: how the port of a host is.
base::Result<> set_port(std::uint32_t host, std::uint32_t link, LinkState state);

}  // namespace terrane::test_hosts
