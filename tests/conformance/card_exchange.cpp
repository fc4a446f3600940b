#include "card_exchange.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace terrane::conformance {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;
constexpr std::size_t kMostFds = 64;

}  // namespace

bool send_card(int socket, const transport::Card& card) {
  iovec data{const_cast<std::byte*>(card.bytes.data()), card.bytes.size()};
  std::byte empty{};
  if (card.bytes.empty()) data = {&empty, 0};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!card.fds.empty()) {
    std::size_t bytes = card.fds.size() * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(header), card.fds.data(), bytes);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(card.bytes.size());
}

bool receive_card(int socket, transport::Card& card) {
  card.bytes.resize(kMostBytes);
  iovec data{card.bytes.data(), card.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFds * sizeof(int))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return false;
  card.bytes.resize(static_cast<std::size_t>(got));
  card.fds.clear();
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    card.fds.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(card.fds.data(), CMSG_DATA(header), card.fds.size() * sizeof(int));
  }
  return true;
}

void close_card(transport::Card& card) {
  for (int fd : card.fds) ::close(fd);
  card.fds.clear();
}

}  // namespace terrane::conformance
