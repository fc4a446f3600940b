#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::tools {

// The ports that this process may listen on. 0: the kernel chooses.
struct PortRange {
  std::uint16_t low = 0, high = 0;

  bool is_any() const { return low == 0; }
  std::string text() const;  // "LOW-HIGH"
};

// The variable that holds the range for the processes of a job; UCX's own for the nodes.
inline constexpr const char* kPortsVariable = "TERRANE_PORTS";
inline constexpr const char* kUcxPortsVariable = "UCX_TCP_PORT_RANGE";

// "LOW-HIGH", or one port. `what` begins the sentence of an error.
base::Result<PortRange> parse_ports(const std::string& what, const std::string& text);

// Of TERRANE_PORTS; what cannot be read there is no limit: `terrane run` has checked it.
PortRange ports_of_environment();

// Binds a socket to the address, at the first free port of the range. errno says why it cannot.
bool bind_in(int fd, const sockaddr_storage& address, PortRange range);

// A socket that listens for connections at every address of this host, at the first free port of
// the range, which is put into `port`. Empty, with errno: there is none.
base::UniqueFd listen_everywhere(PortRange range, std::uint16_t& port);

// "cannot listen ...: no port from LOW to HIGH is free ...", for errno as bind_in left it.
base::Error cannot_listen(const std::string& what, PortRange range);

}  // namespace terrane::tools
