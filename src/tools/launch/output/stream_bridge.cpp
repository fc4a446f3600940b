#include "tools/launch/output/stream_bridge.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace terrane::tools {
namespace {

// Of messages between the launcher's processes; those of nodes are in transport/routed.
enum Tag : std::uint16_t { kBegin = 16, kBytes = 17, kEnd = 18 };

constexpr std::size_t kStreamBytes = 64 * 1024;
constexpr std::uint64_t kRoomMs = 2;  // between two looks whether the network has room again

}  // namespace

StreamBridge::StreamBridge(Loop& loop, Network network, OnStream on_stream)
    : loop_(loop),
      network_(std::move(network)),
      on_stream_(std::move(on_stream)),
      room_(loop, [this] { look_for_room(); }) {}

StreamBridge::~StreamBridge() {
  for (auto& [peer, stream] : streams_) loop_.forget(stream->socket.get());
}

base::Result<base::UniqueFd> StreamBridge::add(routing::Address peer) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
    return base::errno_error("cannot make a socket for another cluster");
  base::UniqueFd theirs(pair[1]);
  auto stream = std::make_unique<Stream>();
  stream->socket.reset(pair[0]);
  loop_.watch(pair[0], EPOLLIN, [this, peer](std::uint32_t events) { on_ready(peer, events); });
  streams_[peer] = std::move(stream);
  return theirs;
}

base::Result<base::UniqueFd> StreamBridge::open(routing::Address to) {
  end(to, true);
  auto socket = add(to);
  if (socket) network_.send(to, kBegin, {});
  return socket;
}

void StreamBridge::message(routing::Address from, std::uint16_t tag, routing::Bytes message) {
  if (tag == kBegin && on_stream_) {
    end(from, false);
    auto socket = add(from);
    if (socket) on_stream_(from, std::move(socket).value());
    return;
  }
  auto found = streams_.find(from);
  if (found == streams_.end()) return;
  Stream& stream = *found->second;
  if (tag == kBytes) stream.out.insert(stream.out.end(), message.begin(), message.end());
  if (tag == kEnd) stream.ended = true;
  if (!write(stream)) end(from, true);
}

// What it sent before is still given to the reader.
void StreamBridge::lost(routing::Address peer) {
  auto found = streams_.find(peer);
  if (found == streams_.end()) return;
  found->second->ended = true;
  if (!write(*found->second)) end(peer, false);
}

void StreamBridge::on_ready(routing::Address peer, std::uint32_t events) {
  auto found = streams_.find(peer);
  if (found == streams_.end()) return;
  Stream& stream = *found->second;
  if ((events & EPOLLOUT) != 0 && !write(stream)) return end(peer, true);
  if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read(peer, stream);
}

void StreamBridge::read(routing::Address peer, Stream& stream) {
  std::byte bytes[kStreamBytes];
  ssize_t got = ::recv(stream.socket.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(peer, true);
  network_.send(peer, kBytes, {bytes, static_cast<std::size_t>(got)});
  if (!network_.is_full(peer)) return;
  stream.reads = false;
  watch(stream);
  if (!room_.is_set()) room_.set_in(kRoomMs);
}

void StreamBridge::look_for_room() {
  bool some_wait = false;
  for (auto& [peer, stream] : streams_) {
    if (stream->reads) continue;
    stream->reads = !network_.is_full(peer);
    some_wait |= !stream->reads;
    watch(*stream);
  }
  if (some_wait) room_.set_in(kRoomMs);
}

// False: the stream has ended.
bool StreamBridge::write(Stream& stream) {
  while (stream.written < stream.out.size()) {
    ssize_t sent = ::send(stream.socket.get(), stream.out.data() + stream.written,
                          stream.out.size() - stream.written, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return false;
    stream.written += static_cast<std::size_t>(sent);
  }
  if (stream.written == stream.out.size()) {
    stream.out.clear();
    stream.written = 0;
    if (stream.ended) return false;
  }
  watch(stream);
  return true;
}

void StreamBridge::watch(const Stream& stream) {
  std::uint32_t events = 0;
  if (stream.reads) events |= EPOLLIN;
  if (!stream.out.empty()) events |= EPOLLOUT;
  loop_.change(stream.socket.get(), events);
}

void StreamBridge::end(routing::Address peer, bool tell) {
  auto found = streams_.find(peer);
  if (found == streams_.end()) return;
  loop_.forget(found->second->socket.get());
  streams_.erase(found);
  if (tell) network_.send(peer, kEnd, {});
}

}  // namespace terrane::tools
