#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "routing/inbound.h"
#include "routing/outbound.h"
#include "tools/launch/loop.h"
#include "tools/launch/output/stream_bridge.h"

namespace terrane::tools {

// The end of the network that a gateway is itself, for its stream to the hub. In the loop's thread.
class OwnEnd final : private routing::Inbound::Receiver {
 public:
  // `has_output`: there is something that fill() gives.
  OwnEnd(Loop& loop, routing::Address address, std::uint64_t window,
         std::function<void()> has_output);

  routing::Address address() const { return address_; }
  StreamBridge& bridge() { return bridge_; }
  // A frame for this end.
  void received(const routing::FrameHeader& header, routing::Bytes payload);
  // Appends all frames that can be sent now.
  void fill(std::vector<std::byte>& out);

 private:
  static constexpr std::uint32_t kWay = 0;

  void message(routing::Address from, std::uint16_t tag, routing::Bytes message) override;
  void bye(routing::Address from) override { outbound_.gone(from); }
  void broken(routing::Address from) override { outbound_.lose(from); }
  void tick();

  routing::Address address_;
  std::function<void()> has_output_;
  routing::Outbound outbound_;
  routing::Inbound inbound_;
  StreamBridge bridge_;
  Timer tick_;
};

}  // namespace terrane::tools
