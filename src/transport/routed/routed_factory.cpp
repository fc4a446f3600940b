#include "transport/routed/routed_factory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "stream/dial.h"
#include "transport/routed/hello.h"
#include "transport/routed/reach.h"
#include "transport/routed/routed_transport.h"

namespace terrane::transport::routed {
namespace {

constexpr std::uint64_t kDialMs = 20'000;
constexpr std::uint64_t kBandwidthByDefault =
    125'000'000;  // bytes a second, of a link that says none

// Connects to the gateways of this node's cluster.
class RoutedFactory final : public PartFactory {
 public:
  RoutedFactory(TransportOptions options, Peers peers)
      : options_(std::move(options)), peers_(peers) {}

  std::string_view name() const override { return "routed"; }
  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override;
  base::Result<std::unique_ptr<PartTransport>> connect_part(std::vector<Card> cards) override;

 private:
  bool is_peer(NodeId node) const;
  std::uint64_t bandwidth_to(NodeId node) const;
  base::Result<> take_cards(const std::vector<Card>& cards);
  base::Result<> reach_gateways();

  TransportOptions options_;
  Peers peers_;
  Placement placement_;
  RoutedTransport::Parts parts_;
};

base::Result<Card> RoutedFactory::open(const Placement& placement,
                                       std::span<const ExportedRegion> regions) {
  placement_ = placement;
  parts_.self = placement.self;
  parts_.own_regions = std::make_unique<Regions>(1);
  std::vector<RoutedRegion> told;
  for (const ExportedRegion& region : regions) {
    UniqueFd copy(::fcntl(region.fd, F_DUPFD_CLOEXEC, 0));
    if (!copy) return base::errno_error("routed: an exported region's descriptor");
    parts_.own_regions->add(NodeId{0}, std::move(copy), region.bytes, region.base);
    told.push_back({region.bytes, region.base != nullptr ? 1u : 0u});
  }
  return Card{encode_card(told), {}};
}

bool RoutedFactory::is_peer(NodeId node) const {
  if (node == placement_.self) return false;
  return peers_ == Peers::kAll || !placement_.same_cluster(node, placement_.self);
}

std::uint64_t RoutedFactory::bandwidth_to(NodeId node) const {
  const auto& said = options_.routes.bandwidths;
  std::size_t cluster = placement_.cluster_of.empty() ? 0 : placement_.cluster_of[node.value];
  return cluster < said.size() && said[cluster] != 0 ? said[cluster] : kBandwidthByDefault;
}

base::Result<> RoutedFactory::take_cards(const std::vector<Card>& cards) {
  if (cards.size() != placement_.nodes)
    return base::error("routed: {} cards for {} nodes", cards.size(), placement_.nodes);
  for (std::uint32_t node = 0; node < placement_.nodes; ++node) {
    auto regions = decode_card(cards[node].bytes);
    if (!regions) return base::error("routed: node {}'s card makes no sense", node);
    parts_.regions.push_back(std::move(*regions));
    if (is_peer(NodeId{node})) parts_.peers.push_back(NodeId{node});
    parts_.bandwidths.push_back(bandwidth_to(NodeId{node}));
  }
  return {};
}

base::Result<> RoutedFactory::reach_gateways() {
  const Routes& routes = options_.routes;
  auto address = routing::Address::of_node(placement_.self.value);
  auto ways = static_cast<std::uint32_t>(routes.gateways.size());
  parts_.end = std::make_unique<End>(address, routes.window, ways);
  if (auto opened = parts_.end->open(); !opened) return opened;
  stream::Credentials credentials{*routes.secret};
  if (routes.encrypt) {
    auto key = stream::TlsKey::derive(*routes.secret, "gateway");
    if (!key) return key.error();
    credentials.key = std::move(key).value();
  }
  auto reached = routed::reach_gateways(*parts_.end, routes.gateways, credentials,
                                        hello_of(address, routes.window), {.timeout_ms = kDialMs});
  if (!reached) return base::error("routed: {}", reached.error().message);
  const std::vector<std::string>& names = reached.value();
  parts_.description = fmt::format("gateway{} {} to other clusters", names.size() == 1 ? "" : "s",
                                   fmt::join(names, ", "));
  return {};
}

base::Result<std::unique_ptr<PartTransport>> RoutedFactory::connect_part(std::vector<Card> cards) {
  if (!options_.routes.secret || options_.routes.gateways.empty())
    return base::error(
        "routed: this job has no gateways; name them in the file of --topology ([[gateways]])");
  if (auto taken = take_cards(cards); !taken) return taken.error();
  if (auto reached = reach_gateways(); !reached) return reached.error();
  auto connected = RoutedTransport::connect(std::move(parts_));
  if (!connected) return connected.error();
  return std::unique_ptr<PartTransport>(std::move(connected).value());
}

}  // namespace

std::unique_ptr<PartFactory> make_routed_factory(const TransportOptions& options, Peers peers) {
  return std::make_unique<RoutedFactory>(options, peers);
}

}  // namespace terrane::transport::routed
