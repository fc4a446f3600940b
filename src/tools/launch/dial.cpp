#include "tools/launch/dial.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stream/handshake.h"
#include "tools/launch/addresses.h"
#include "tools/launch/loop.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kAgainMs = 200;  // after which an address that refused is tried once more

// One address on its way to a proven connection.
struct Attempt {
  std::string address;
  base::UniqueFd socket;
  stream::Handshake handshake;
  std::uint64_t again_at_ms = 0;  // where there is no socket
  std::string why;                // the last failure
};

void fail(Attempt& attempt, const std::string& why) {
  attempt.socket.reset();
  attempt.why = why;
  attempt.again_at_ms = now_ms() + kAgainMs;
}

void begin(Attempt& attempt, std::uint16_t port, const stream::Secret& secret) {
  auto address = parse_address(attempt.address, port);
  stream::Nonce nonce;
  if (!address || !stream::fill_random(nonce)) return fail(attempt, "not an address");
  attempt.handshake = stream::Handshake::of_host(secret, nonce);
  attempt.socket.reset(::socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int done = attempt.socket
                 ? ::connect(attempt.socket.get(), reinterpret_cast<const sockaddr*>(&*address),
                             address_size(*address))
                 : -1;
  if (done != 0 && errno != EINPROGRESS) fail(attempt, std::strerror(errno));
}

// Moves the handshake on by what has come.
void advance(Attempt& attempt) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(attempt, std::strerror(error));
  std::byte bytes[stream::kAnswerBytes];
  std::size_t wanted = std::min(attempt.handshake.wanted(), sizeof bytes);
  ssize_t got = ::recv(attempt.socket.get(), bytes, wanted, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return fail(attempt, std::strerror(errno));
  if (got == 0) return fail(attempt, "it closed the connection (another job, or a wrong secret)");
  auto state = attempt.handshake.take({bytes, static_cast<std::size_t>(got)});
  if (state == stream::HandshakeState::kRefused) {
    const std::string& complaint = attempt.handshake.complaint();
    return fail(attempt, complaint.empty() ? "who listens there is not this job's" : complaint);
  }
  std::vector<std::byte> out = std::exchange(attempt.handshake.out, {});
  if (!out.empty() && ::send(attempt.socket.get(), out.data(), out.size(), MSG_NOSIGNAL) < 0) {
    fail(attempt, std::strerror(errno));
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
  for (const Attempt& attempt : attempts) ready.push_back({attempt.socket.get(), POLLIN, 0});
  ready.push_back({lifeline, POLLIN, 0});
  ::poll(ready.data(), ready.size(), static_cast<int>(kAgainMs / 4));
  return ready.back().revents == 0;
}

// ssh and its like end with `terrane run`, and their pipes with them.
bool starter_has_gone() {
  pollfd error{STDERR_FILENO, 0, 0};
  return ::poll(&error, 1, 0) == 1 && (error.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

base::Result<base::UniqueFd> dial_hub(const std::vector<std::string>& addresses, std::uint16_t port,
                                      const stream::Secret& secret, std::uint64_t timeout_ms,
                                      int lifeline) {
  std::vector<Attempt> attempts;
  for (const std::string& address : addresses) {
    attempts.push_back({address, {}, stream::Handshake::of_host(secret, {})});
  }
  std::vector<pollfd> ready;
  for (std::uint64_t until = now_ms() + timeout_ms; now_ms() < until;) {
    for (Attempt& attempt : attempts) {
      if (!attempt.socket && attempt.again_at_ms <= now_ms()) begin(attempt, port, secret);
    }
    if (!wait(attempts, lifeline, ready) || starter_has_gone()) {
      return base::error("`terrane run`, which started this engine, has gone");
    }
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (attempts[i].socket && ready[i].revents != 0) advance(attempts[i]);
      if (attempts[i].handshake.state() == stream::HandshakeState::kProven && attempts[i].socket) {
        return std::move(attempts[i].socket);
      }
    }
  }
  return base::error("cannot reach `terrane run` at port {} of {}", port, failures(attempts));
}

}  // namespace terrane::tools
