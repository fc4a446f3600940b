#include "transport/ucx/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/unique_fd.h"

namespace terrane::transport::ucx {
namespace {

bool is_free(std::uint16_t port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return true;  // UCX says what is wrong
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 ||
         errno != EADDRINUSE;
}

}  // namespace

base::Result<> check_free_port() {
  const char* range = std::getenv("UCX_TCP_PORT_RANGE");
  unsigned low = 0, high = 0;
  if (range == nullptr || std::sscanf(range, "%u-%u", &low, &high) != 2) return {};
  if (low == 0 || high > 65535) return {};  // any port, or UCX says what is wrong
  for (unsigned port = low; port <= high; ++port)
    if (is_free(static_cast<std::uint16_t>(port))) return {};
  return base::error(
      "ucx: no port from {} to {} is free; each node needs one, and the job's host one more: give "
      "a larger range: --port LOW-HIGH",
      low, high);
}

}  // namespace terrane::transport::ucx
