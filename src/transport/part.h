#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "transport/sleep_room.h"
#include "transport/transport.h"

namespace terrane::transport {

// A transport that can be one of several in a node: it serves some of the peers, and others sleep
// for it.
class PartTransport : public Transport, public NewsSource {
 public:
  // Descriptors for SleepRoom::watch. They live as long as the transport.
  virtual std::vector<int> news_fds() const = 0;
  // Its threads sleep in this room, not in its own. Before the first use.
  virtual void sleep_in(SleepRoom&) {}
};

class PartFactory : public TransportFactory {
 public:
  virtual base::Result<std::unique_ptr<PartTransport>> connect_part(std::vector<Card> cards) = 0;

  base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) final {
    auto connected = connect_part(std::move(cards));
    if (!connected) return connected.error();
    return std::unique_ptr<Transport>(std::move(connected).value());
  }
};

}  // namespace terrane::transport
