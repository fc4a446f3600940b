#pragma once

#include <sys/socket.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/hub/beat_packet.h"
#include "tools/launch/hub/probe.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// How long a host was silent, and whether its kernel answers still.
struct Silence {
  std::uint64_t ms = 0;
  bool answers = false;
};

// Heartbeats between this host's engine and those of the other hosts, over UDP, each signed by the
// job's secret. A thread that does nothing else sends them. A host that was heard once and then is
// silent for the limit is reported, once; but one whose kernel still answers a probe has more time.
// One that was never heard is not reported: between such hosts UDP does not pass, and the hub's own
// connections must do. Owns the sockets and the thread.
class Beats {
 public:
  Beats(Loop& loop, const stream::Secret& secret,
        std::function<void(std::uint32_t host, Silence silence)> on_silent);
  ~Beats() { stop(); }
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

  // Binds a port that the kernel chooses, for UDP and for the others' probes; it hears from now on.
  base::Result<> open();
  std::uint16_t port() const { return port_; }
  // Begins to speak. `hub_address`: replaces the empty address among the peers. The limits are
  // those of the vigil.
  void start(const std::vector<PeerAddress>& peers, std::uint32_t own_host,
             const std::string& hub_address, std::uint64_t limit_ms, std::uint64_t late_limit_ms);
  void stop();

 private:
  struct Peer {
    sockaddr_storage address{};
    bool known = false;      // where it is
    std::uint64_t sent = 0;  // of the thread that speaks
    std::uint64_t heard = 0;
    Probe probe;
  };

  bool bind_both(int family, PortRange range);
  void start_speaker();
  void speak();
  void hear();
  void tick();

  Loop& loop_;
  stream::Secret secret_;
  std::function<void(std::uint32_t, Silence)> on_silent_;
  base::UniqueFd socket_, listener_;
  int family_ = AF_INET6;
  std::uint16_t port_ = 0;
  std::uint32_t own_host_ = 0;
  std::vector<Peer> peers_;
  std::mutex addresses_;  // of the peers
  std::condition_variable_any pause_;
  std::jthread speaker_;
  Vigil vigil_{0, 1};
  Timer tick_;
};

}  // namespace terrane::tools
