#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "routing/frame.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// Byte streams between processes that only gateways join, as ordinary sockets: what is written to
// one end of a socket pair goes to the peer as messages, and what the peer sends can be read from
// it. One stream a peer. Owns one end of each pair. In the loop's thread.
class StreamBridge {
 public:
  struct Network {
    std::function<void(routing::Address to, std::uint16_t tag, routing::Bytes message)> send;
    // More waits for the peer than can be on its way.
    std::function<bool(routing::Address to)> is_full;
  };
  // A peer has begun a stream: its other end. Not called where nullptr is given.
  using OnStream = std::function<void(routing::Address from, base::UniqueFd socket)>;

  StreamBridge(Loop& loop, Network network, OnStream on_stream);
  ~StreamBridge();
  StreamBridge(const StreamBridge&) = delete;

  // Begins a stream to the peer, and gives its other end.
  base::Result<base::UniqueFd> open(routing::Address to);
  // A message of the network.
  void message(routing::Address from, std::uint16_t tag, routing::Bytes message);
  // Nothing more comes from the peer.
  void lost(routing::Address peer);
  // All streams have ended.
  bool is_idle() const { return streams_.empty(); }

 private:
  struct Stream {
    base::UniqueFd socket;
    std::vector<std::byte> out;  // what the socket did not take yet
    std::size_t written = 0;
    bool reads = true;   // the socket is read: the network has room
    bool ended = false;  // the peer has ended it: it is closed once `out` is written
  };

  base::Result<base::UniqueFd> add(routing::Address peer);
  void on_ready(routing::Address peer, std::uint32_t events);
  void read(routing::Address peer, Stream& stream);
  bool write(Stream& stream);
  void watch(const Stream& stream);
  void end(routing::Address peer, bool tell);
  void look_for_room();

  Loop& loop_;
  Network network_;
  OnStream on_stream_;
  std::map<routing::Address, std::unique_ptr<Stream>> streams_;
  Timer room_;
};

}  // namespace terrane::tools
