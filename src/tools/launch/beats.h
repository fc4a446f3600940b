#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/beat_packet.h"
#include "tools/launch/host_messages.h"
#include "tools/launch/loop.h"
#include "tools/launch/vigil.h"

namespace terrane::tools {

// Heartbeats between this host's engine and those of the other hosts, over UDP, each signed by the
// job's secret. A host that was heard once and then is silent for the limit is reported, once. One
// that was never heard is not: between such hosts UDP does not pass, and the hub's own connections
// must do. Owns the socket.
class Beats {
 public:
  Beats(Loop& loop, const Secret& secret, std::function<void(std::uint32_t host)> on_silent);
  ~Beats() { stop(); }
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

  // Binds a port that the kernel chooses; it hears from now on.
  base::Result<> open();
  std::uint16_t port() const { return port_; }
  // Begins to speak. `hub_address`: stands for the empty address among the peers.
  void start(const std::vector<PeerAddress>& peers, std::uint32_t own_host,
             const std::string& hub_address, std::uint64_t limit_ms);
  void stop();

 private:
  struct Peer {
    sockaddr_storage address{};
    bool known = false;  // where it is
    std::uint64_t heard = 0, sent = 0;
  };

  void hear();
  void tick();

  Loop& loop_;
  Secret secret_;
  std::function<void(std::uint32_t)> on_silent_;
  base::UniqueFd socket_;
  int family_ = AF_INET6;
  std::uint16_t port_ = 0;
  std::uint32_t own_host_ = 0;
  std::vector<Peer> peers_;
  Vigil vigil_{0, 1};
  Timer tick_;
};

}  // namespace terrane::tools
