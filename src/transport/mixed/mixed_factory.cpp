#include "transport/mixed/mixed_factory.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "transport/mixed/mixed_transport.h"
#include "transport/shm/shm_factory.h"
#include "transport/ucx/ucx_factory.h"

namespace terrane::transport::mixed {
namespace {

// Opens both parts. A card is the bytes of both, and the descriptors of the one for this host.
class MixedFactory final : public TransportFactory {
 public:
  explicit MixedFactory(const TransportOptions& options)
      : near_(shm::make_shm_factory(shm::Wake::kByDescriptor)),
        far_(ucx::make_ucx_factory(options, ucx::Peers::kOnOtherHosts)) {}

  std::string_view name() const override { return "mixed"; }
  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override;
  base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) override;

 private:
  Placement near_placement() const;

  std::unique_ptr<PartFactory> near_;
  std::unique_ptr<PartFactory> far_;
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

base::Result<Card> MixedFactory::open(const Placement& placement,
                                      std::span<const ExportedRegion> regions) {
  placement_ = placement;
  auto near = near_->open(near_placement(), regions);
  if (!near) return near.error();
  auto far = far_->open(placement, regions);
  if (!far) {
    for (int fd : near.value().fds) ::close(fd);
    return far.error();
  }
  Card card;
  auto near_bytes = static_cast<std::uint32_t>(near.value().bytes.size());
  card.bytes.resize(sizeof near_bytes);
  std::memcpy(card.bytes.data(), &near_bytes, sizeof near_bytes);
  for (const Card* part : {&near.value(), &far.value()}) {
    card.bytes.insert(card.bytes.end(), part->bytes.begin(), part->bytes.end());
    card.fds.insert(card.fds.end(), part->fds.begin(), part->fds.end());
  }
  return card;
}

base::Result<std::unique_ptr<Transport>> MixedFactory::connect(std::vector<Card> cards) {
  std::vector<Card> near;
  std::vector<Card> far;
  std::string wrong;
  for (Card& card : cards) {
    NodeId node{static_cast<std::uint32_t>(far.size())};
    if (card.bytes.empty() && card.fds.empty()) {  // nobody is there
      far.emplace_back();
      continue;
    }
    std::uint32_t near_bytes = 0;
    bool whole = card.bytes.size() >= sizeof near_bytes;
    if (whole) std::memcpy(&near_bytes, card.bytes.data(), sizeof near_bytes);
    whole = whole && near_bytes <= card.bytes.size() - sizeof near_bytes;
    if (!whole && wrong.empty()) wrong = fmt::format("node {}'s card is cut off", node.value);
    auto middle = card.bytes.begin() + (whole ? sizeof near_bytes + near_bytes : 0);
    bool is_near = node.value < placement_.nodes && placement_.same_host(node, placement_.self);
    if (is_near && whole) {
      near.push_back({{card.bytes.begin() + sizeof near_bytes, middle}, std::move(card.fds)});
    } else {
      for (int fd : card.fds) ::close(fd);
    }
    far.push_back({{middle, card.bytes.end()}, {}});
  }
  auto near_part = near_->connect_part(std::move(near));
  if (!wrong.empty()) return base::error("mixed: {}", wrong);
  if (!near_part) return near_part.error();
  auto far_part = far_->connect_part(std::move(far));
  if (!far_part) return far_part.error();
  return MixedTransport::join(placement_, std::move(near_part).value(),
                              std::move(far_part).value());
}

}  // namespace

std::unique_ptr<TransportFactory> make_mixed_factory(const TransportOptions& options) {
  return std::make_unique<MixedFactory>(options);
}

}  // namespace terrane::transport::mixed
