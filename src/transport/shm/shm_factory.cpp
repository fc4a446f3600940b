#include "transport/shm/shm_factory.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <utility>

#include "transport/shm/shm_transport.h"

namespace terrane::transport::shm {
namespace {

// Makes a node's inbound area, then connects it to those of the others. Owns the area in between.
class ShmFactory final : public PartFactory {
 public:
  explicit ShmFactory(Wake wake) : wake_(wake) {}

  std::string_view name() const override { return "shm"; }
  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override;
  base::Result<std::unique_ptr<PartTransport>> connect_part(std::vector<Card> cards) override;

 private:
  base::Result<> hang_bell(ShmCard& card);

  Wake wake_;
  NodeId self_;
  AreaShape shape_;
  Area own_;
  std::vector<std::byte*> bases_;  // of our regions
};

base::Result<Card> ShmFactory::open(const Placement& placement,
                                    std::span<const ExportedRegion> regions) {
  if (placement.nodes > kMaxNodes) {
    return base::error("shm: {} nodes on one host; {} is the most", placement.nodes, kMaxNodes);
  }
  self_ = placement.self;
  shape_ = AreaShape::for_job(placement.nodes);
  auto fd = platform::create_memfd(shape_.bytes(), "terrane-inbound");
  if (!fd) return fd.error();
  UniqueFd area_fd(fd.value());
  auto area = Area::map(area_fd.get(), shape_);
  if (!area) return area.error();
  own_ = std::move(area).value();
  for (const ExportedRegion& region : regions) bases_.push_back(region.base);
  auto card = ShmCard::of_this_process(shape_, std::move(area_fd), regions);
  if (!card) return card.error();
  if (wake_ == Wake::kByDescriptor) {
    if (auto hung = hang_bell(card.value()); !hung) return hung.error();
  }
  own_.sign(card.value().pid);
  return std::move(card).value().encode();
}

// Our copy of the bell stays with the area; the card takes the other.
base::Result<> ShmFactory::hang_bell(ShmCard& card) {
  UniqueFd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  card.bell.reset(::fcntl(bell.get(), F_DUPFD_CLOEXEC, 0));
  if (!card.bell) return base::errno_error("shm: a descriptor to be woken by");
  own_.hang(std::move(bell));
  return {};
}

base::Result<std::unique_ptr<PartTransport>> ShmFactory::connect_part(std::vector<Card> cards) {
  std::vector<ShmCard> decoded;
  std::string wrong;
  for (Card& card :
       cards) {  // all of them, also behind a wrong one: decode() takes the descriptors
    std::size_t node = decoded.size();
    auto one = ShmCard::decode(std::move(card));
    if (!one && wrong.empty()) wrong = fmt::format("node {}'s card: {}", node, one.error().message);
    decoded.push_back(one ? std::move(one).value() : ShmCard{});
    if (wrong.empty() && (decoded.back().shape.nodes != shape_.nodes ||
                          decoded.back().shape.ring_bytes != shape_.ring_bytes)) {
      wrong = fmt::format("node {}'s card is for a job of {} nodes, not {}", node,
                          decoded.back().shape.nodes, shape_.nodes);
    }
  }
  if (wrong.empty() && decoded.size() != shape_.nodes) {
    wrong = fmt::format("{} cards for {} nodes", decoded.size(), shape_.nodes);
  }
  if (!wrong.empty()) return base::error("shm: {}", wrong);
  auto& own = decoded[self_.value].regions;
  if (own.size() != bases_.size()) return base::error("shm: our own card came back changed");
  for (std::size_t i = 0; i < own.size(); ++i) own[i].base = bases_[i];
  return ShmTransport::connect(self_, std::move(own_), std::move(decoded));
}

}  // namespace

std::unique_ptr<PartFactory> make_shm_factory(Wake wake) {
  return std::make_unique<ShmFactory>(wake);
}

}  // namespace terrane::transport::shm
