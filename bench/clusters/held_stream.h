#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/unique_fd.h"
#include "stream/tls_session.h"

namespace terrane::bench {

// A connected socket, with TLS or without, that does not block, and that holds back what is written
// for a time: the latency of a link. Ends the process where the other side breaks the rules.
class HeldStream {
 public:
  HeldStream(base::UniqueFd socket, std::optional<stream::TlsSession> tls, std::uint64_t delay_ns);

  // Reads once, and gives what is plain of it; valid until the next call.
  std::span<const std::byte> read();
  // The other side has closed it, and all of it was read.
  bool ended() const { return ended_; }
  // Before TLS is open nothing is to be written.
  bool open() const { return !tls_ || tls_->state() == stream::TlsState::kOpen; }

  void write(std::span<const std::byte> bytes);
  // Sends what is due, as far as the socket takes it.
  void flush();
  // When the first of what is held back is due; UINT64_MAX: nothing is.
  std::uint64_t due_ns() const { return held_.empty() ? UINT64_MAX : held_.front().due_ns; }
  // Bytes that are written and not yet sent.
  std::size_t held_bytes() const { return held_bytes_; }
  // The socket takes no more at present.
  bool blocked() const { return blocked_; }
  int socket() const { return socket_.get(); }

 private:
  struct Held {
    std::uint64_t due_ns;
    std::vector<std::byte> bytes;
    std::size_t sent;
  };

  std::size_t push(std::span<const std::byte> bytes);
  std::size_t send(std::span<const std::byte> bytes);
  void send_encrypted();

  base::UniqueFd socket_;
  std::optional<stream::TlsSession> tls_;
  std::uint64_t delay_ns_;
  std::vector<std::byte> wire_, plain_;
  std::size_t wire_begin_ = 0, wire_end_ = 0;
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  bool blocked_ = false, ended_ = false;
};

}  // namespace terrane::bench
