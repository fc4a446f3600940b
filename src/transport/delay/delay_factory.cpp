#include "transport/delay/delay_factory.h"

#include <utility>

#include "transport/delay/delayed_transport.h"

namespace terrane::transport::delay {
namespace {

// Opens and connects the transport below, and puts the delay round it. Owns the factory below.
class DelayFactory final : public TransportFactory {
 public:
  DelayFactory(std::unique_ptr<TransportFactory> inner, std::uint64_t latency_ns)
      : inner_(std::move(inner)), latency_ns_(latency_ns) {}

  std::string_view name() const override { return inner_->name(); }

  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override {
    delayed_.assign(placement.nodes, false);
    for (std::uint32_t node = 0; node < placement.nodes; ++node) {
      NodeId peer{node};
      bool far = placement.one_cluster() ? !placement.same_host(peer, placement.self)
                                         : !placement.same_cluster(peer, placement.self);
      delayed_[node] = peer != placement.self && (placement.one_host() || far);
    }
    return inner_->open(placement, regions);
  }

  base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) override {
    auto connected = inner_->connect(std::move(cards));
    if (!connected) return connected.error();
    return std::unique_ptr<Transport>(std::make_unique<DelayedTransport>(
        std::move(connected).value(), latency_ns_, std::move(delayed_)));
  }

 private:
  std::unique_ptr<TransportFactory> inner_;
  std::uint64_t latency_ns_;
  std::vector<bool> delayed_;
};

}  // namespace

std::unique_ptr<TransportFactory> make_delayed_factory(std::unique_ptr<TransportFactory> inner,
                                                       std::uint64_t latency_ns) {
  return std::make_unique<DelayFactory>(std::move(inner), latency_ns);
}

}  // namespace terrane::transport::delay
