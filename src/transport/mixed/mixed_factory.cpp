#include "transport/mixed/mixed_factory.h"

#include <unistd.h>

#include <utility>

#include "transport/mixed/mixed_transport.h"
#include "transport/routed/routed_factory.h"
#include "transport/shm/shm_factory.h"
#include "transport/ucx/ucx_factory.h"

namespace terrane::transport::mixed {
namespace {

// Opens the parts that this node needs. A card is the bytes of all, and the descriptors of the one
// for this host.
class MixedFactory final : public TransportFactory {
 public:
  explicit MixedFactory(const TransportOptions& options)
      : near_(shm::make_shm_factory(shm::Wake::kByDescriptor)), options_(options) {}

  std::string_view name() const override { return "mixed"; }
  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override;
  base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) override;

 private:
  Placement near_placement() const;

  bool has_far_peers() const;

  std::unique_ptr<PartFactory> near_;
  std::unique_ptr<PartFactory> far_;     // nullptr: no peer is reached by the network
  std::unique_ptr<PartFactory> routed_;  // nullptr: none is reached by gateways
  TransportOptions options_;
  Placement placement_;
};

Placement MixedFactory::near_placement() const {
  Placement near;
  near.nodes = 0;
  for (std::uint32_t node = 0; node < placement_.nodes; ++node) {
    if (!placement_.same_host(NodeId{node}, placement_.self)) continue;
    if (NodeId{node} == placement_.self) near.self = NodeId{near.nodes};
    ++near.nodes;
  }
  near.host_of.assign(near.nodes, 0);
  return near;
}

// On another host, and not beyond a gateway.
bool MixedFactory::has_far_peers() const {
  for (std::uint32_t node = 0; node < placement_.nodes; ++node) {
    bool is_routed = routed_ && !placement_.same_cluster(NodeId{node}, placement_.self);
    if (!is_routed && !placement_.same_host(NodeId{node}, placement_.self)) return true;
  }
  return false;
}

base::Result<Card> MixedFactory::open(const Placement& placement,
                                      std::span<const ExportedRegion> regions) {
  placement_ = placement;
  bool has_gateways = !options_.routes.gateways.empty();
  if (has_gateways && !placement.one_cluster())
    routed_ = routed::make_routed_factory(options_, routed::Peers::kOfOtherClusters);
  if (has_far_peers()) {
    auto peers = routed_ ? ucx::Peers::kOnOtherHostsOfTheCluster : ucx::Peers::kOnOtherHosts;
    far_ = ucx::make_ucx_factory(options_, peers);
  }
  auto near = near_->open(near_placement(), regions);
  if (!near) return near.error();
  Card far, routed;
  for (auto [factory, card] : {std::pair(far_.get(), &far), std::pair(routed_.get(), &routed)}) {
    if (factory == nullptr) continue;
    auto opened = factory->open(placement, regions);
    if (!opened) {
      for (int fd : near.value().fds) ::close(fd);
      return opened.error();
    }
    *card = std::move(opened).value();
  }
  return Card{join_card({near.value().bytes, far.bytes, routed.bytes}), near.value().fds};
}

base::Result<std::unique_ptr<Transport>> MixedFactory::connect(std::vector<Card> cards) {
  std::vector<Card> near, far, routed;
  std::string wrong;
  auto copy = [](Bytes bytes) { return std::vector<std::byte>(bytes.begin(), bytes.end()); };
  for (Card& card : cards) {
    NodeId node{static_cast<std::uint32_t>(far.size())};
    bool is_there = !card.bytes.empty() || !card.fds.empty();
    auto split = is_there ? split_card(card.bytes) : SplitCard{};
    if (!split && wrong.empty()) wrong = fmt::format("node {}'s card is cut off", node.value);
    if (!split) split = SplitCard{};
    bool is_near = node.value < placement_.nodes && placement_.same_host(node, placement_.self);
    if (is_near && is_there) {
      near.push_back({copy(split->near), std::move(card.fds)});
    } else {
      for (int fd : card.fds) ::close(fd);
    }
    far.push_back({copy(split->far), {}});
    routed.push_back({copy(split->routed), {}});
  }
  MixedTransport::Parts parts;
  auto connected = near_->connect_part(std::move(near));
  if (!wrong.empty()) return base::error("mixed: {}", wrong);
  if (!connected) return connected.error();
  parts.near = std::move(connected).value();
  if (far_) {
    auto part = far_->connect_part(std::move(far));
    if (!part) return part.error();
    parts.far = std::move(part).value();
  }
  if (routed_) {
    auto part = routed_->connect_part(std::move(routed));
    if (!part) return part.error();
    parts.routed = std::move(part).value();
  }
  return MixedTransport::join(placement_, std::move(parts));
}

}  // namespace

std::unique_ptr<TransportFactory> make_mixed_factory(const TransportOptions& options) {
  return std::make_unique<MixedFactory>(options);
}

}  // namespace terrane::transport::mixed
