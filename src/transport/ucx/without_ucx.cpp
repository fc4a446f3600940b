// In the place of this folder's transport, where Terrane is built without the headers of UCX.
#include "transport/ucx/ucx_factory.h"

namespace terrane::transport::ucx {
namespace {

class NoFactory final : public PartFactory {
 public:
  std::string_view name() const override { return "ucx"; }
  base::Result<Card> open(const Placement&, std::span<const ExportedRegion>) override {
    return base::error(
        "nodes on several hosts need UCX, and this Terrane was built without it: install its "
        "headers (Debian: libucx-dev, Fedora: ucx-devel, Arch: openucx) and build Terrane again");
  }
  base::Result<std::unique_ptr<PartTransport>> connect_part(std::vector<Card>) override {
    return base::error("Terrane was built without UCX");
  }
};

}  // namespace

std::unique_ptr<PartFactory> make_ucx_factory(const TransportOptions&, Peers) {
  return std::make_unique<NoFactory>();
}

}  // namespace terrane::transport::ucx
