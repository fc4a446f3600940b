#include "clusters/held_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "clusters/sockets.h"

namespace terrane::bench {
namespace {

constexpr std::size_t kReadBytes = std::size_t{128} << 10;
constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
constexpr std::size_t kEncryptBytes = std::size_t{64} << 10;  // at a time, so that caches hold them

}  // namespace

HeldStream::HeldStream(base::UniqueFd socket, std::optional<stream::TlsSession> tls,
                       std::uint64_t delay_ns)
    : socket_(std::move(socket)), tls_(std::move(tls)), delay_ns_(delay_ns), wire_(kReadBytes) {
  if (tls_) plain_.resize(kReadBytes + kRecordBytes);  // with the rest of one that was begun
  flush();
}

std::span<const std::byte> HeldStream::read() {
  if (wire_begin_ == wire_end_) {
    ssize_t got = ::recv(socket_.get(), wire_.data(), wire_.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got < 0 && errno != ECONNRESET) give_up("cannot read");
    if (got <= 0) ended_ = true;
    wire_begin_ = 0;
    wire_end_ = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  auto wire = std::span<const std::byte>(wire_).subspan(wire_begin_, wire_end_ - wire_begin_);
  if (!tls_) {
    wire_begin_ = wire_end_;
    return wire;
  }
  auto [taken, plain] = tls_->take(wire, plain_);
  wire_begin_ += taken;
  errno = 0;
  if (tls_->state() == stream::TlsState::kRefused) give_up("TLS: " + tls_->complaint());
  if (!tls_->out().empty()) send_encrypted();
  return std::span<const std::byte>(plain_).first(plain);
}

std::size_t HeldStream::send(std::span<const std::byte> bytes) {
  std::size_t all = 0;
  blocked_ = false;
  while (all < bytes.size() && !blocked_) {
    ssize_t sent =
        ::send(socket_.get(), bytes.data() + all, bytes.size() - all, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) give_up("cannot send");
    blocked_ = sent < 0;
    all += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  }
  return all;
}

void HeldStream::send_encrypted() { tls_->sent(send(tls_->out())); }

std::size_t HeldStream::push(std::span<const std::byte> bytes) {
  if (!tls_) return send(bytes);
  std::size_t all = 0;
  send_encrypted();
  while (all < bytes.size() && !blocked_) {
    std::size_t some = std::min(bytes.size() - all, kEncryptBytes);
    all += tls_->write(bytes.subspan(all, some));
    send_encrypted();
  }
  return all;
}

void HeldStream::write(std::span<const std::byte> bytes) {
  if (delay_ns_ == 0 && held_.empty()) bytes = bytes.subspan(push(bytes));
  if (bytes.empty()) return;
  held_.push_back({now_ns() + delay_ns_, {bytes.begin(), bytes.end()}, 0});
  held_bytes_ += bytes.size();
}

void HeldStream::flush() {
  if (tls_ && !tls_->out().empty()) send_encrypted();
  while (!held_.empty() && held_.front().due_ns <= now_ns()) {
    Held& first = held_.front();
    std::size_t sent = push(std::span(first.bytes).subspan(first.sent));
    first.sent += sent;
    held_bytes_ -= sent;
    if (first.sent < first.bytes.size()) return;
    held_.pop_front();
  }
}

}  // namespace terrane::bench
