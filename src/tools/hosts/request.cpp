#include "tools/hosts/request.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::error;
using base::Result;

constexpr std::size_t kMaxBytes = 190'000;  // below the least that a socket of Linux takes at once
constexpr std::size_t kMaxFds = 4;

// Every part ends with a NUL: kind, host, folder, number of words, words, environment.
std::string encode(const Request& request) {
  std::string text;
  auto add = [&text](std::string_view part) {
    text += part;
    text += '\0';
  };
  add(std::string(1, static_cast<char>(request.kind)));
  add(request.host);
  add(request.folder);
  add(std::to_string(request.words.size()));
  for (const std::string& word : request.words) add(word);
  for (const std::string& variable : request.environment) add(variable);
  return text;
}

Result<Request> decode(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return error("a request is not as it should be");
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  std::size_t words = 0;
  bool good = parts.size() >= 4 && parts[0].size() == 1;
  if (good) {
    const std::string& count = parts[3];
    auto parsed = std::from_chars(count.data(), count.data() + count.size(), words);
    good = parsed.ec == std::errc() && words <= parts.size() - 4;
  }
  if (!good) return error("a request is not as it should be");
  auto first = parts.begin() + 4;
  auto middle = first + static_cast<std::ptrdiff_t>(words);
  return Request{.kind = static_cast<Request::Kind>(parts[0][0]),
                 .host = parts[1],
                 .folder = parts[2],
                 .words = {first, middle},
                 .environment = {middle, parts.end()}};
}

}  // namespace

Result<> send_request(int socket, const Request& request, const std::vector<int>& fds) {
  std::string text = encode(request);
  if (text.size() > kMaxBytes) {
    return error("the command and its environment have {} bytes; at most {} are passed on",
                 text.size(), kMaxBytes);
  }
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
  if (fds.empty()) message.msg_controllen = 0;
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return errno_error("cannot send to the keeper of the test hosts");
  return {};
}

Result<Message> receive_request(int socket) {
  std::vector<char> text(kMaxBytes);
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return base::Error{};
  Message whole;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof fd, sizeof fd);
      whole.fds.emplace_back(fd);
    }
  }
  auto request = decode({text.data(), static_cast<std::size_t>(got)});
  if (!request) return request.error();
  whole.request = std::move(request).value();
  return whole;
}

void send_text(int socket, std::string_view text) {
  ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

std::string receive_text(int socket, int timeout_ms) {
  pollfd ready{socket, POLLIN, 0};
  int polled;
  do {
    polled = ::poll(&ready, 1, timeout_ms);
  } while (polled < 0 && errno == EINTR);
  if (polled <= 0) return {};
  std::array<char, 4096> text;
  ssize_t got = ::recv(socket, text.data(), text.size(), 0);
  return got <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(got));
}

Result<int> exit_code_of(const std::string& answer) {
  constexpr std::string_view kExit = "exit ";
  if (answer.empty()) return error("the test hosts have gone");
  int code = 0;
  const char* end = answer.data() + answer.size();
  bool good = answer.starts_with(kExit) &&
              std::from_chars(answer.data() + kExit.size(), end, code).ptr == end;
  if (!good) return base::Error{answer};
  return code;
}

Result<UniqueFd> connect_to_keeper() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, kKeeperName.data(), kKeeperName.size());
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kKeeperName.size());
  if (!socket || ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) < 0) {
    return error("this is no test host: {}", std::strerror(errno));
  }
  return socket;
}

Result<SocketPair> make_socket_pair() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    return errno_error("cannot make a socket");
  }
  return SocketPair{UniqueFd(pair[0]), UniqueFd(pair[1])};
}

}  // namespace terrane::test_hosts
