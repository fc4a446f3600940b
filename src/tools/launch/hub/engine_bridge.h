#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/job_map.h"
#include "stream/secret.h"
#include "tools/launch/loop.h"
#include "tools/launch/output/stream_bridge.h"
#include "transport/routed/end.h"

namespace terrane::tools {

// How an engine reaches the hub where only gateways do.
struct EngineRoute {
  std::vector<bootstrap::GatewayDoor>
      gateways;              // of its cluster; none: it reaches the hub directly
  std::uint64_t window = 0;  // bytes of a pair that may be on their way
  bool encrypt = false;
};

// The stream between an engine and a hub that only gateways join, as an ordinary socket. Owns the
// connections to the gateways, and a thread that carries what passes.
class EngineBridge final : transport::routed::End::Receiver {
 public:
  // `host`: the engine's, by its index. Blocks for `timeout_ms` at most, and no
  // longer than the process lives that started the engine. `lifeline`: as of dial_hub().
  static base::Result<std::unique_ptr<EngineBridge>> start(const EngineRoute& route,
                                                           std::uint32_t host,
                                                           const stream::Secret& secret,
                                                           std::uint64_t timeout_ms, int lifeline);
  ~EngineBridge() override;

  // The engine's end of the stream; once.
  base::UniqueFd take_socket() { return std::move(socket_); }

 private:
  EngineBridge(std::uint32_t host, std::uint64_t window, std::uint32_t ways);

  base::Result<> open();
  void run();
  void message(routing::Address from, std::uint16_t tag, routing::Bytes message) override;
  void lost(routing::Address peer, const std::string& why) override;

  std::unique_ptr<Loop> loop_;
  transport::routed::End end_;
  std::unique_ptr<StreamBridge> bridge_;
  base::UniqueFd socket_, stop_;
  bool stopping_ = false;  // of the thread
  std::unique_ptr<Timer> look_;
  std::thread thread_;
};

}  // namespace terrane::tools
