#include "tools/launch/dial.h"

#include <poll.h>
#include <unistd.h>

#include <utility>

#include "stream/connection.h"
#include "stream/dial.h"
#include "tools/launch/loop.h"

namespace terrane::tools {
namespace {

constexpr int kNapMs = 50;

bool has_ended(int lifeline) {
  pollfd watched{lifeline, POLLIN, 0};
  return lifeline >= 0 && ::poll(&watched, 1, 0) == 1;
}

}  // namespace

bool starter_has_gone() {
  pollfd error{STDERR_FILENO, 0, 0};
  return ::poll(&error, 1, 0) == 1 && (error.revents & (POLLERR | POLLHUP)) != 0;
}

base::Result<base::UniqueFd> prove_to_hub(base::UniqueFd socket, const stream::Secret& secret,
                                          std::uint64_t timeout_ms, int lifeline) {
  stream::Connection connection(std::move(socket), stream::Connection::Side::kDialer, {secret});
  for (std::uint64_t until = now_ms() + timeout_ms; now_ms() < until;) {
    pollfd ready[] = {{connection.fd(), POLLIN, 0}, {lifeline, POLLIN, 0}};
    ::poll(ready, 2, kNapMs);
    if (ready[1].revents != 0 || starter_has_gone())
      return base::error("`terrane run`, which started this engine, has gone");
    connection.receive();
    if (connection.state() == stream::Connection::State::kOpen) return connection.release();
    if (connection.state() == stream::Connection::State::kClosed)
      return base::error("cannot reach `terrane run` through the gateways: {}", connection.why());
  }
  return base::error("`terrane run` does not answer through the gateways");
}

base::Result<base::UniqueFd> dial_hub(const std::vector<std::string>& addresses, std::uint16_t port,
                                      const stream::Secret& secret, std::uint64_t timeout_ms,
                                      int lifeline) {
  auto reached =
      stream::dial({addresses, port}, {secret}, {timeout_ms, starter_has_gone, lifeline});
  if (reached) return reached.value()->release();
  if (starter_has_gone() || has_ended(lifeline))
    return base::error("`terrane run`, which started this engine, has gone");
  return base::error("cannot reach `terrane run` at {}", reached.error().message);
}

}  // namespace terrane::tools
