#include "bootstrap/packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace terrane::bootstrap {
namespace {

constexpr int kMostPauses = 60'000;

// For the kernel to have room for descriptors, which it does not tell. False: no pauses are left.
bool pause_once(int& left) noexcept {
  if (left == 0) return false;
  --left;
  timespec millisecond{0, 1'000'000};
  ::nanosleep(&millisecond, nullptr);
  errno = ETOOMANYREFS;
  return true;
}

PacketStatus from_errno(int error) noexcept {
  switch (error) {
    case EAGAIN:
    case ENOBUFS:
      return PacketStatus::kAgain;
    case ETOOMANYREFS:
      return PacketStatus::kTooManyFlying;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
      return PacketStatus::kClosed;
    default:
      return PacketStatus::kFailed;
  }
}

}  // namespace

PacketStatus send_packet(int socket, const MessageHeader& header, std::span<const std::byte> bytes,
                         std::span<const int> fds, int flags) noexcept {
  iovec parts[2] = {{const_cast<MessageHeader*>(&header), sizeof header},
                    {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = bytes.empty() ? 1 : 2;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPacketFds * sizeof(int))];
  if (!fds.empty()) {
    std::size_t count = std::min(fds.size(), kMaxPacketFds);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    std::memset(control, 0, message.msg_controllen);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(rights), fds.data(), count * sizeof(int));
  }
  ssize_t sent;
  int pauses = flags & MSG_DONTWAIT ? 0 : kMostPauses;
  do {
    sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && (errno == EINTR || (errno == ETOOMANYREFS && pause_once(pauses))));
  return sent < 0 ? from_errno(errno) : PacketStatus::kDone;
}

PacketStatus send_text(int socket, const MessageHeader& header, std::string_view text,
                       int flags) noexcept {
  auto bytes = std::as_bytes(std::span(text.data(), std::min(text.size(), kMaxPacketBytes)));
  return send_packet(socket, header, bytes, {}, flags);
}

std::string_view PacketReader::text() const {
  return {reinterpret_cast<const char*>(buffer_.data()), size_};
}

void PacketReader::take_control(const msghdr& message) {
  fds_.clear();
  sender_ = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred who{};
      std::memcpy(&who, CMSG_DATA(part), sizeof who);
      sender_ = who.pid;
    } else if (part->cmsg_type == SCM_RIGHTS) {
      std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
        fds_.emplace_back(fd);
      }
    }
  }
}

PacketStatus PacketReader::receive(int socket, int flags) {
  iovec parts[2] = {{&header_, sizeof header_}, {buffer_.data(), buffer_.size()}};
  alignas(
      cmsghdr) char control[CMSG_SPACE(kMaxPacketFds * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return from_errno(errno);
  take_control(message);
  // An empty packet looks like the end, but where the kernel names senders, the end has none.
  if (got == 0) return sender_ == 0 ? PacketStatus::kClosed : PacketStatus::kMalformed;
  if (message.msg_flags & MSG_CTRUNC) return PacketStatus::kNoDescriptors;
  if (message.msg_flags & MSG_TRUNC || static_cast<std::size_t>(got) < sizeof header_ ||
      header_.magic != kMessageMagic) {
    return PacketStatus::kMalformed;
  }
  size_ = static_cast<std::size_t>(got) - sizeof header_;
  return PacketStatus::kDone;
}

}  // namespace terrane::bootstrap
