#include "transport/ucx/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/unique_fd.h"

namespace terrane::transport::ucx {
namespace {

enum class Port { kFree, kLeft, kTaken };

bool can_bind(unsigned port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return true;  // UCX says what is wrong
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 ||
         errno != EADDRINUSE;
}

// Whether the kernel keeps connections of the port that have ended (TIME_WAIT, for a minute), and
// no process has the port. Such a port cannot be bound, with SO_REUSEADDR neither, since UCX does
// not set it.
bool is_left(unsigned port) {
  bool is_known = false;
  for (const char* list : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(list);
    for (std::string line; std::getline(lines, line);) {
      unsigned local = 0;
      unsigned long inode = 0;  // of the socket that a process has
      int found = std::sscanf(line.c_str(), "%*d: %*[^:]:%x %*s %*x %*s %*s %*s %*d %*d %lu",
                              &local, &inode);
      if (found != 2 || local != port) continue;
      if (inode != 0) return false;
      is_known = true;
    }
  }
  return is_known;
}

Port state_of(unsigned port) {
  if (can_bind(port)) return Port::kFree;
  return is_left(port) ? Port::kLeft : Port::kTaken;
}

// The best state of all.
Port best_of(unsigned low, unsigned high) {
  Port best = Port::kTaken;
  for (unsigned port = low; port <= high && best != Port::kFree; ++port)
    best = std::min(best, state_of(port));
  return best;
}

}  // namespace

base::Result<> await_free_port(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  const char* range = std::getenv("UCX_TCP_PORT_RANGE");
  unsigned low = 0, high = 0;
  if (range == nullptr || std::sscanf(range, "%u-%u", &low, &high) != 2) return {};
  if (low == 0 || high > 65535) return {};  // any port, or UCX says what is wrong
  Port best = best_of(low, high);
  if (best == Port::kLeft && limit > kBetweenLooks)
    base::log(
        "ucx: all ports from {} to {} are taken, some by connections that have just ended; this "
        "node waits for one, a minute at most (a larger --port LOW-HIGH needs no wait)",
        low, high);
  for (; best == Port::kLeft && limit > kBetweenLooks; limit -= kBetweenLooks) {
    std::this_thread::sleep_for(kBetweenLooks);
    best = best_of(low, high);
  }
  if (best == Port::kFree) return {};
  return base::error(
      "ucx: no port from {} to {} is free; each node needs one, and the job's host one more: give "
      "a larger range: --port LOW-HIGH",
      low, high);
}

}  // namespace terrane::transport::ucx
