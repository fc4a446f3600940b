#include "stream/dial.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "stream/socket_address.h"

namespace terrane::stream {
namespace {

constexpr std::uint64_t kAgainMs = 200;  // after which an address that refused is tried once more

std::uint64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// One address on its way to a proven connection.
struct Attempt {
  std::string address;
  std::unique_ptr<Connection> connection = nullptr;
  bool connects = false;          // the kernel has not said yet whether it is connected
  std::uint64_t again_at_ms = 0;  // where there is no connection
  std::string why = {};           // the last failure
};

void fail(Attempt& attempt, const std::string& why) {
  attempt.connection.reset();
  attempt.connects = false;
  attempt.why = why;
  attempt.again_at_ms = now_ms() + kAgainMs;
}

void begin(Attempt& attempt, std::uint16_t port, const Credentials& credentials) {
  auto address = parse_address(attempt.address, port);
  if (!address) return fail(attempt, "not an address");
  base::UniqueFd socket(
      ::socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(attempt, std::strerror(errno));
  int done =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), address_size(*address));
  if (done != 0 && errno != EINPROGRESS) return fail(attempt, std::strerror(errno));
  attempt.connects = true;
  attempt.connection =
      std::make_unique<Connection>(std::move(socket), Connection::Side::kDialer, credentials);
}

// Moves the proof on by what has come.
void advance(Attempt& attempt) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(attempt.connection->fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(attempt, std::strerror(error));
  attempt.connects = false;
  attempt.connection->flush();
  while (attempt.connection->state() == Connection::State::kProving &&
         attempt.connection->receive()) {
  }
  if (attempt.connection->state() == Connection::State::kClosed) {
    std::string why = attempt.connection->why();
    fail(attempt, why);
  }
}

std::string failures(const std::vector<Attempt>& attempts) {
  std::string text;
  for (const Attempt& attempt : attempts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", attempt.address,
                        attempt.why.empty() ? "no answer" : attempt.why);
  }
  return text;
}

// Waits for changes of the connections; not longer than until the next one is tried again. False:
// the lifeline has ended.
bool wait(const std::vector<Attempt>& attempts, int lifeline, std::vector<pollfd>& ready) {
  ready.clear();
  for (const Attempt& attempt : attempts) {
    bool there = attempt.connection != nullptr;
    bool wants_room = attempt.connects || (there && attempt.connection->wants_room());
    auto events = static_cast<short>(wants_room ? POLLIN | POLLOUT : POLLIN);
    ready.push_back({there ? attempt.connection->fd() : -1, events, 0});
  }
  ready.push_back({lifeline, POLLIN, 0});
  ::poll(ready.data(), ready.size(), static_cast<int>(kAgainMs / 4));
  return ready.back().revents == 0;
}

}  // namespace

base::Result<std::unique_ptr<Connection>> dial(const Door& door, const Credentials& credentials,
                                               const DialLimits& limits) {
  std::vector<Attempt> attempts;
  for (const std::string& address : door.addresses) attempts.push_back({address});
  std::vector<pollfd> ready;
  for (std::uint64_t until = now_ms() + limits.timeout_ms; now_ms() < until;) {
    for (Attempt& attempt : attempts) {
      if (!attempt.connection && attempt.again_at_ms <= now_ms()) {
        begin(attempt, door.port, credentials);
      }
    }
    bool wanted = wait(attempts, limits.lifeline, ready);
    if (!wanted || (limits.given_up && limits.given_up()))
      return base::error("nobody wants the connection any more");
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      Attempt& attempt = attempts[i];
      if (attempt.connection && ready[i].revents != 0) advance(attempt);
      if (attempt.connection && attempt.connection->state() == Connection::State::kOpen)
        return std::move(attempt.connection);
    }
  }
  return base::error("port {} of {}", door.port, failures(attempts));
}

}  // namespace terrane::stream
