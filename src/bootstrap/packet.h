#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "bootstrap/message.h"

namespace terrane::bootstrap {

enum class PacketStatus {
  kDone,
  kAgain,          // would block (MSG_DONTWAIT only)
  kTooManyFlying,  // send: the kernel holds too many descriptors of this user on their way, in all
                   // its sockets; again once somebody has read. With MSG_DONTWAIT at once, else
                   // after a minute
  kClosed,         // the other end has gone
  kNoDescriptors,  // receive: this process has no room for the descriptors that came
  kMalformed,      // receive: not a packet of ours
  kFailed,         // errno says why
};

// Sends one packet: at most kMaxPacketBytes bytes and kMaxPacketFds descriptors. Never raises
// SIGPIPE, never allocates; safe in a signal handler. `flags`: MSG_DONTWAIT or 0, which blocks.
PacketStatus send_packet(int socket, const MessageHeader& header, std::span<const std::byte> bytes,
                         std::span<const int> fds, int flags) noexcept;
PacketStatus send_text(int socket, const MessageHeader& header, std::string_view text,
                       int flags) noexcept;

// Holds the last packet received. Descriptors that nobody takes are closed with the next packet.
class PacketReader {
 public:
  PacketStatus receive(int socket, int flags);

  const MessageHeader& header() const { return header_; }
  std::span<const std::byte> bytes() const { return {buffer_.data(), size_}; }
  std::string_view text() const;
  std::vector<base::UniqueFd>& fds() { return fds_; }
  // The sender, vouched for by the kernel; 0 where the socket does not ask for it (SO_PASSCRED).
  pid_t sender() const { return sender_; }

 private:
  void take_control(const ::msghdr& message);

  MessageHeader header_;
  std::size_t size_ = 0;
  pid_t sender_ = 0;
  std::vector<base::UniqueFd> fds_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kMaxPacketBytes);
};

}  // namespace terrane::bootstrap
