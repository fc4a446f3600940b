#include "transport/ucx/ucx_factory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "base/open_descriptors.h"
#include "transport/ucx/interfaces.h"
#include "transport/ucx/ucx_transport.h"

namespace terrane::transport::ucx {
namespace {

constexpr std::uint64_t kDescriptors = 24;  // of a worker, beside its connections; seen: 16

// Opens UCX on the interfaces chosen, then connects to all peers. Owns the worker in between.
class UcxFactory final : public PartFactory {
 public:
  UcxFactory(TransportOptions options, Peers peers) : options_(std::move(options)), peers_(peers) {}

  std::string_view name() const override { return "ucx"; }
  base::Result<Card> open(const Placement& placement,
                          std::span<const ExportedRegion> regions) override;
  base::Result<std::unique_ptr<PartTransport>> connect_part(std::vector<Card> cards) override;

 private:
  base::Result<> take_regions(std::span<const ExportedRegion> regions, UcxCard& card);

  bool is_peer(NodeId node) const;

  TransportOptions options_;
  Peers peers_;
  Placement placement_;
  UcxTransport::Parts parts_;
  std::optional<base::OpenDescriptors> open_before_;  // UCX
};

base::Result<> UcxFactory::take_regions(std::span<const ExportedRegion> regions, UcxCard& card) {
  parts_.own_regions = std::make_unique<Regions>(1);
  for (const ExportedRegion& region : regions) {
    UcxCard::Region& told = card.regions.emplace_back();
    told.bytes = region.bytes;
    told.base = reinterpret_cast<std::uintptr_t>(region.base);
    if (region.base != nullptr && !parts_.sockets_alone) {
      auto key = parts_.worker->expose(region.base, region.bytes);
      if (!key) return key.error();
      told.key = std::move(key).value();
    }
    if (region.base != nullptr) {
      parts_.own_regions->add(NodeId{0}, {}, region.bytes, region.base);
      continue;
    }
    UniqueFd copy(::fcntl(region.fd, F_DUPFD_CLOEXEC, 0));
    if (!copy) return base::errno_error("ucx: an exported region's descriptor");
    parts_.own_regions->add(NodeId{0}, std::move(copy), region.bytes, region.base);
  }
  return {};
}

// UCX aborts where it finds no descriptor for itself.
base::Result<> check_descriptors(std::uint32_t nodes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  std::error_code error;
  std::filesystem::directory_iterator open("/proc/self/fd", error);
  if (error) return {};
  auto used = static_cast<std::uint64_t>(std::distance(begin(open), end(open)));
  std::uint64_t needed = kDescriptors + 2 * std::uint64_t{nodes};
  if (used + needed <= limit.rlim_cur) return {};
  return base::error(
      "ucx: too few descriptors: {} are in use, {} more are needed, and the limit is {}; raise it "
      "with: ulimit -n {}",
      used, needed, limit.rlim_cur, std::max<std::uint64_t>(1024, used + needed));
}

base::Result<Card> UcxFactory::open(const Placement& placement,
                                    std::span<const ExportedRegion> regions) {
  if (auto enough = check_descriptors(placement.nodes); !enough) return enough.error();
  open_before_.emplace();
  placement_ = placement;
  parts_.self = placement.self;
  parts_.joins = placement.joins;
  auto choice = choose_interfaces_here(options_.net, placement.one_host());
  if (!choice) return choice.error();
  parts_.sockets_alone = choice.value().sockets_alone;
  parts_.bandwidth = choice.value().bandwidth;
  bool one_sided = std::any_of(regions.begin(), regions.end(),
                               [](const ExportedRegion& region) { return region.base != nullptr; });
  // Over sockets UCX's own calls would be messages, too, which it would take from everybody.
  one_sided = one_sided && !parts_.sockets_alone;
  auto worker =
      Worker::create({choice.value().devices, placement.nodes, parts_.sockets_alone, one_sided});
  if (!worker) return worker.error();
  parts_.worker = std::move(worker).value();
  parts_.description = fmt::format("ucx {} over {} ({})", parts_.worker->version(),
                                   choice.value().devices, choice.value().reason);
  UcxCard card;
  if (::getrandom(&card.token, sizeof card.token, 0) != sizeof card.token) {
    return base::errno_error("ucx: a random number");
  }
  parts_.token = card.token;
  auto address = parts_.worker->address();
  if (!address) return address.error();
  card.address = std::move(address).value();
  card.door = parts_.worker->door();
  if (auto taken = take_regions(regions, card); !taken) return taken.error();
  return card.encode();
}

bool UcxFactory::is_peer(NodeId node) const {
  if (node == placement_.self || node.value >= placement_.nodes) return false;
  if (peers_ == Peers::kAll) return true;
  if (peers_ == Peers::kOnOtherHostsOfTheCluster && !placement_.same_cluster(node, placement_.self))
    return false;
  return !placement_.same_host(node, placement_.self);
}

base::Result<std::unique_ptr<PartTransport>> UcxFactory::connect_part(std::vector<Card> cards) {
  std::vector<UcxCard> decoded;
  std::vector<NodeId> peers;
  std::string wrong;
  for (const Card& card : cards) {  // all of them: decode() closes descriptors
    NodeId node{static_cast<std::uint32_t>(decoded.size())};
    if (card.bytes.empty() && card.fds.empty()) {  // nobody is there
      decoded.emplace_back();
      continue;
    }
    auto one = UcxCard::decode(card);
    if (!one && wrong.empty()) {
      wrong = fmt::format("node {}'s card: {}", node.value, one.error().message);
    }
    decoded.push_back(one ? std::move(one).value() : UcxCard{});
    if (is_peer(node)) peers.push_back(node);
  }
  if (wrong.empty() && decoded.size() != placement_.nodes) {
    wrong = fmt::format("{} cards for {} nodes", decoded.size(), placement_.nodes);
  }
  if (!wrong.empty()) return base::error("ucx: {}", wrong);
  auto connected = UcxTransport::connect(std::move(parts_), std::move(decoded), peers);
  if (!connected) return connected.error();
  open_before_->own_later_ones_and_close_on_exec();
  return std::unique_ptr<PartTransport>(std::move(connected).value());
}

}  // namespace

std::unique_ptr<PartFactory> make_ucx_factory(const TransportOptions& options, Peers peers) {
  return std::make_unique<UcxFactory>(options, peers);
}

}  // namespace terrane::transport::ucx
