#include "stream/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "stream/socket_address.h"

namespace terrane::stream {
namespace {

constexpr std::size_t kInBytes = 512 * 1024;  // several of the largest frames
constexpr std::size_t kCipherBytes = 128 * 1024;
constexpr std::size_t kProvingBytes = 4096;  // before the other end has proved anything

Handshake handshake_of(Connection::Side side, const Secret& secret) {
  Nonce nonce{};
  if (!fill_random(nonce)) nonce = {};  // the proof fails, nothing else
  return side == Connection::Side::kListener ? Handshake::of_hub(secret, nonce)
                                             : Handshake::of_host(secret, nonce);
}

void set(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

Connection::Connection(base::UniqueFd socket) : socket_(std::move(socket)), in_(kProvingBytes) {
  set(socket_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
}

std::unique_ptr<Connection> Connection::of_proven(base::UniqueFd socket) {
  std::unique_ptr<Connection> made(new Connection(std::move(socket)));
  made->state_.store(State::kOpen);
  return made;
}

Connection::Connection(base::UniqueFd socket, Side side, const Credentials& credentials)
    : Connection(std::move(socket)) {
  if (credentials.key) {
    tls_.emplace(*credentials.key, side == Side::kListener ? TlsRole::kServer : TlsRole::kClient);
    cipher_.resize(kProvingBytes);
  } else {
    handshake_.emplace(handshake_of(side, credentials.secret));
  }
}

void Connection::limit_silence(std::uint64_t ms, bool may_stop_reading) {
  // Of the kernel's probes: after a second without traffic, then each second.
  auto probes = static_cast<int>(std::max<std::uint64_t>(1, ms / 1000 - 1));
  set(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket_.get(), IPPROTO_TCP, TCP_KEEPCNT, probes);
  // It counts also while the other end's window is closed.
  if (!may_stop_reading)
    set(socket_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT,
        static_cast<int>(std::max<std::uint64_t>(ms, 2000)));
}

void Connection::close(std::string why) {
  if (state_.load() == State::kClosed) return;
  why_ = std::move(why);
  state_.store(State::kClosed);
}

std::string Connection::peer_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (!socket_ || ::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return "";
  return address_text(address);
}

base::UniqueFd Connection::release() {
  close("handed on");
  return std::move(socket_);
}

void Connection::make_room() {
  if (state() == State::kOpen && in_.size() < kInBytes) {
    in_.resize(kInBytes);
    if (tls_) cipher_.resize(kCipherBytes);
  }
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ == 0 || in_.size() - end_ >= in_.size() / 2) return;
  std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

// False: nothing came, or the connection has ended.
bool Connection::receive_bytes(std::span<std::byte> into, std::size_t& bytes) {
  ssize_t got = ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
  if (got > 0) {
    bytes = static_cast<std::size_t>(got);
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return false;
  if (got < 0) {
    close(std::strerror(errno));
  } else if (state() == State::kProving) {
    close("it closed the connection (another job, or a wrong secret)");
  } else {
    close("the connection was closed");
  }
  return false;
}

bool Connection::receive() {
  if (state() == State::kClosed) return false;
  make_room();
  if (tls_) return receive_cipher();
  return state() == State::kProving ? receive_proof() : receive_plain();
}

bool Connection::receive_proof() {
  std::byte bytes[kAnswerBytes];
  std::size_t wanted = std::min(handshake_->wanted(), sizeof bytes);
  std::size_t got = 0;
  if (!receive_bytes({bytes, wanted}, got)) return false;
  handshake_->take({bytes, got});
  send_proof();
  if (handshake_->state() == HandshakeState::kRefused) {
    close(handshake_->complaint().empty() ? "the other end is not of this job"
                                          : handshake_->complaint());
  } else if (handshake_->state() == HandshakeState::kProven) {
    state_.store(State::kOpen);
  }
  return state() != State::kClosed && got == wanted;
}

bool Connection::receive_plain() {
  auto into = std::span(in_).subspan(end_);
  std::size_t got = 0;
  if (into.empty() || !receive_bytes(into, got)) return false;
  end_ += got;
  return got == into.size();
}

bool Connection::receive_cipher() {
  bool filled = false;
  if (cipher_begin_ == cipher_end_) {
    std::size_t got = 0;
    if (!receive_bytes(cipher_, got)) return false;
    cipher_begin_ = 0;
    cipher_end_ = got;
    filled = got == cipher_.size();
  }
  std::lock_guard hold(tls_lock_);
  // All of it: no descriptor tells of what waits here.
  for (bool more = true; more && cipher_begin_ != cipher_end_;) {
    auto wire = std::span(cipher_).subspan(cipher_begin_, cipher_end_ - cipher_begin_);
    auto taken = tls_->take(wire, std::span(in_).subspan(end_));
    cipher_begin_ += taken.wire;
    end_ += taken.plain;
    more = taken.wire + taken.plain != 0;
  }
  send_cipher();
  switch (tls_->state()) {
    case TlsState::kGoingOn:
      break;
    case TlsState::kOpen: {
      State proving = State::kProving;
      state_.compare_exchange_strong(proving, State::kOpen);
      break;
    }
    case TlsState::kRefused:
      close(tls_->complaint());
      break;
    case TlsState::kClosed:
      close("the connection was closed");
      break;
  }
  return state() != State::kClosed && (filled || cipher_begin_ != cipher_end_);
}

// How many bytes the socket took.
std::size_t Connection::send_some(std::span<const std::byte> bytes) {
  std::size_t all = 0;
  while (all < bytes.size()) {
    ssize_t sent =
        ::send(socket_.get(), bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    bool waits = sent < 0 && (errno == EAGAIN || errno == ENOTCONN);
    if (sent < 0 && !waits) return bytes.size();  // it has ended, and receive() says why
    if (sent < 0) break;
    all += static_cast<std::size_t>(sent);
  }
  return all;
}

void Connection::send_proof() {
  std::size_t sent = send_some(handshake_->out);
  handshake_->out.erase(handshake_->out.begin(),
                        handshake_->out.begin() + static_cast<std::ptrdiff_t>(sent));
  blocked_.store(!handshake_->out.empty());
}

void Connection::send_cipher() {
  tls_->sent(send_some(tls_->out()));
  blocked_.store(!tls_->out().empty());
}

void Connection::flush() {
  if (state() == State::kClosed) {
    sent_ = out_.size();
    blocked_.store(false);
  } else if (tls_) {
    std::lock_guard hold(tls_lock_);
    send_cipher();
    for (bool more = true; more && !blocked_.load();) {
      std::size_t taken = tls_->write(std::span(out_).subspan(sent_));
      sent_ += taken;
      send_cipher();
      more = taken != 0;
    }
  } else {
    if (handshake_ && !handshake_->out.empty()) send_proof();
    if (state() == State::kProving || (handshake_ && !handshake_->out.empty())) return;
    sent_ += send_some(std::span(out_).subspan(sent_));
    blocked_.store(sent_ < out_.size());
  }
  if (sent_ < out_.size()) return;
  out_.clear();
  sent_ = 0;
}

}  // namespace terrane::stream
