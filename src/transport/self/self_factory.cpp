#include "transport/self/self_factory.h"

#include <fcntl.h>

#include <utility>

#include "transport/self/self_transport.h"

namespace terrane::transport::self {
namespace {

// Keeps the regions until connect(); the card is empty, since there is nobody to tell.
class SelfFactory final : public TransportFactory {
 public:
  std::string_view name() const override { return "self"; }

  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override {
    if (placement.nodes != 1) {
      return base::error("self: serves a job of one node, not of {}", placement.nodes);
    }
    regions_ = std::make_unique<Regions>(1);
    for (const ExportedRegion& region : regions) {
      UniqueFd copy(::fcntl(region.fd, F_DUPFD_CLOEXEC, 0));
      if (!copy) return base::errno_error("self: an exported region's descriptor");
      regions_->add(NodeId{0}, std::move(copy), region.bytes, region.base);
    }
    return Card{};
  }

  base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) override {
    for (const Card& card : cards) {
      for (int fd : card.fds) UniqueFd closed(fd);
    }
    if (cards.size() != 1) return base::error("self: {} cards for one node", cards.size());
    return std::unique_ptr<Transport>(std::make_unique<SelfTransport>(std::move(regions_)));
  }

 private:
  std::unique_ptr<Regions> regions_;
};

}  // namespace

std::unique_ptr<TransportFactory> make_self_factory() { return std::make_unique<SelfFactory>(); }

}  // namespace terrane::transport::self
