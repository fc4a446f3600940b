#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"
#include "tools/launch/ports.h"

namespace terrane::tools {

// When the kernel at the other end of a TCP connection last showed that it is there, by
// CLOCK_MONOTONIC in ms: it acknowledged a segment then, or has acknowledged all that was sent. 0:
// unknown, or the connection is none (yet, or any more).
std::uint64_t answered_at_ms(int socket);

// Asks the kernel of another host whether it is there, by TCP connections that no process there
// has to serve: the kernel accepts them, and acknowledges what arrives. So an answer tells a
// process that is stopped or gets no processor from a host that is down or a link that is cut. A
// connection that asked while the link was away asks again after a second and more; so one that is
// not answered has others beside it. Owns the sockets. Never blocks.
class Probe {
 public:
  // Sends a byte, or connects where nothing has been answered since the last call. To be called
  // about once a period for as long as an answer is wanted.
  void ask(const sockaddr_storage& listener);
  // The last answer; 0: there was none.
  std::uint64_t answered_at_ms();
  // No answer is wanted any more.
  void rest() { sockets_.clear(); }

 private:
  void connect(const sockaddr_storage& listener);

  std::vector<base::UniqueFd> sockets_;  // the oldest first
  std::uint64_t asked_at_ms_ = 0;
  std::uint64_t answered_at_ms_ = 0;
};

// A socket that such connections reach, bound to this address at one of the ports. An error is an
// empty one.
base::UniqueFd listen_for_probes(const sockaddr_storage& address, PortRange ports);
// Lets go of the connections that have come: their kernel need not answer for a process that runs.
void dismiss_probes(int listener);

}  // namespace terrane::tools
