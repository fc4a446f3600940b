#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tools/launch/frame_reader.h"
#include "tools/launch/hub/probe.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// One end of a connection between the hub and a host's engine whose both ends have proved the
// secret. Owns the socket. Never blocks: what the other end does not take yet is kept here. Not to
// be destroyed by its own handlers.
class Link {
 public:
  struct Handlers {
    // A frame; false: it makes no sense, and the link is closed.
    std::function<bool(std::span<const std::byte>)> on_frame;
    // The connection has ended, and why; once, never by close().
    std::function<void(const std::string&)> on_closed;
  };

  Link(Loop& loop, base::UniqueFd socket);
  ~Link() { close(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Also from within a handler.
  void set_handlers(Handlers handlers) {
    handlers_ = std::make_shared<Handlers>(std::move(handlers));
  }
  // At most kMaxFrameBytes; dropped once the link is closed.
  void send(std::span<const std::byte> payload);
  void close();
  bool is_open() const { return static_cast<bool>(socket_); }

  std::uint64_t heard_at_ms() const { return heard_at_ms_; }
  std::uint64_t sent_at_ms() const { return sent_at_ms_; }
  // Of the other end's kernel (probe.h). To be asked before something is sent, not after. Behind
  // gateways it is not known: they tell when it has gone.
  std::uint64_t answered_at_ms() const {
    return is_direct_ ? tools::answered_at_ms(socket_.get()) : now_ms();
  }
  // Of a link on which nothing more than the first frame has been read: its socket. It is closed
  // then.
  base::UniqueFd release();
  // The other end's address in numbers; empty where it has none.
  std::string peer_address() const;

 private:
  void on_ready(std::uint32_t events);
  bool read();
  void write();
  void end(const std::string& why);

  Loop& loop_;
  base::UniqueFd socket_;
  std::shared_ptr<Handlers> handlers_ = std::make_shared<Handlers>();
  FrameReader reader_;
  std::vector<std::byte> out_;
  std::size_t written_ = 0;  // of `out_`
  bool wants_room_ = false;
  std::uint64_t heard_at_ms_, sent_at_ms_;
  bool is_direct_;  // a connection to another host, not a socket of this one
};

}  // namespace terrane::tools
