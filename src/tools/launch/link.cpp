#include "tools/launch/link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "tools/launch/addresses.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kReadsATurn = 16;  // so that one that sends without end does not keep all others away

}  // namespace

Link::Link(Loop& loop, base::UniqueFd socket)
    : loop_(loop),
      socket_(std::move(socket)),
      heard_at_ms_(now_ms()),
      sent_at_ms_(now_ms()),
      is_direct_(!peer_address().empty()) {
  int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t events) { on_ready(events); });
}

void Link::send(std::span<const std::byte> payload) {
  if (!socket_) return;
  append_frame(out_, payload);
  write();
}

void Link::close() {
  if (!socket_) return;
  loop_.forget(socket_.get());
  socket_.reset();
}

base::UniqueFd Link::release() {
  if (socket_) loop_.forget(socket_.get());
  return std::move(socket_);
}

std::string Link::peer_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (!socket_ || ::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "";
  }
  return address_text(address);
}

void Link::on_ready(std::uint32_t events) {
  if (events & EPOLLOUT) write();
  if ((events & ~EPOLLOUT) == 0) return;
  for (int i = 0; i < kReadsATurn && socket_ && read(); ++i) continue;
}

// False: there is nothing more to read now.
bool Link::read() {
  std::byte bytes[kReadBytes];
  ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    end(got == 0 ? "the connection was closed" : std::strerror(errno));
    return false;
  }
  heard_at_ms_ = now_ms();
  reader_.add({bytes, static_cast<std::size_t>(got)});
  while (auto frame = reader_.next()) {
    std::shared_ptr<Handlers> handlers = handlers_;  // it may set others
    bool sense = handlers->on_frame && handlers->on_frame(*frame);
    if (!socket_) return false;  // closed by the handler
    if (!sense) {
      end("it sent something malformed");
      return false;
    }
  }
  if (reader_.malformed()) end("it sent something malformed");
  return socket_ && static_cast<std::size_t>(got) == sizeof bytes;
}

void Link::write() {
  while (socket_ && written_ < out_.size()) {
    ssize_t sent = ::send(socket_.get(), out_.data() + written_, out_.size() - written_,
                          MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;  // no room; or it has ended, which the reader sees
    written_ += static_cast<std::size_t>(sent);
    sent_at_ms_ = now_ms();
  }
  if (written_ == out_.size()) {
    out_.clear();
    written_ = 0;
  }
  if (socket_ && wants_room_ == out_.empty()) {
    wants_room_ = !out_.empty();
    loop_.change(socket_.get(), wants_room_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
}

void Link::end(const std::string& why) {
  close();
  std::shared_ptr<Handlers> handlers = handlers_;
  if (handlers->on_closed) handlers->on_closed(why);
}

}  // namespace terrane::tools
