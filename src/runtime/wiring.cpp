#include "runtime/wiring.h"

#include <cstring>

#include "base/log.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "runtime/job_facts.h"
#include "waiting/backoff.h"
#include "waiting/processor_share.h"

namespace terrane::runtime {
namespace {

// The start of a node's contribution to the exchange; its bytes and its transport's card follow.
struct Introduction {
  JobFacts facts;
  platform::ProcessorSet processors;
  std::uint64_t machine = 0;
  std::uint64_t said_bytes = 0;
};

NodePlace name_of(const bootstrap::Bootstrap& bootstrap, std::uint32_t node) {
  return {node, std::string(bootstrap.host_name(NodeId{node}))};
}

// The contributions of all nodes, in their parts.
class Cards {
 public:
  base::Result<> take(const bootstrap::Bootstrap& bootstrap, const Introduction& mine,
                      std::uint32_t node, bootstrap::Contribution from);

  std::vector<transport::Card> of_transport;
  std::vector<std::vector<std::byte>> said;
  std::vector<platform::ProcessorSet> on_machine;
};

base::Result<> Cards::take(const bootstrap::Bootstrap& bootstrap, const Introduction& mine,
                           std::uint32_t node, bootstrap::Contribution from) {
  transport::Card& card = of_transport.emplace_back();
  if (from.bytes.empty() && bootstrap.guests() > 0) {  // a guest that has not joined
    said.emplace_back();
    return {};
  }
  card.fds = std::move(from.fds);
  auto same = compare_facts(mine.facts, name_of(bootstrap, bootstrap.self().value), from.bytes,
                            name_of(bootstrap, node));
  if (!same) return same;
  Introduction theirs;
  if (from.bytes.size() < sizeof theirs)
    return base::error("node {} did not introduce itself", node);
  std::memcpy(&theirs, from.bytes.data(), sizeof theirs);
  std::span<const std::byte> rest = std::span(from.bytes).subspan(sizeof theirs);
  if (rest.size() < theirs.said_bytes)
    return base::error("node {} broke off in its introduction", node);
  auto words = rest.first(theirs.said_bytes);
  said.emplace_back(words.begin(), words.end());
  card.bytes.assign(rest.begin() + static_cast<std::ptrdiff_t>(theirs.said_bytes), rest.end());
  auto hosts = bootstrap.hosts();
  bool near = hosts[node] == hosts[bootstrap.self().value] ||
              (mine.machine != 0 && theirs.machine == mine.machine);
  if (near) on_machine.push_back(theirs.processors);
  return {};
}

base::Result<transport::Routes> take_routes(const bootstrap::GatewayRoutes* told) {
  transport::Routes routes;
  if (told == nullptr || told->doors.empty()) return routes;
  for (const bootstrap::GatewayDoor& door : told->doors)
    routes.gateways.push_back({door.addresses, door.port});
  routes.secret = stream::Secret::parse(told->key);
  if (!routes.secret) return base::error("the launcher told a key for gateways that is none");
  routes.window = told->window;
  routes.bandwidths = told->bandwidths;
  routes.encrypt = told->encrypt;
  return routes;
}

}  // namespace

base::Result<> refuse_guests(const bootstrap::Bootstrap& bootstrap, std::string_view interface) {
  if (bootstrap.guests() == 0) return {};
  return base::error("a job of {} takes no guests, only one of chunks does: leave out --guests",
                     interface);
}

base::Result<Wiring> wire_up(bootstrap::Bootstrap& bootstrap, const Options& options,
                             std::string_view interface,
                             std::span<const transport::ExportedRegion> regions,
                             std::span<const std::byte> saying) {
  // Tests whether threads can be started: UCX ends the process if they cannot.
  platform::start_without_signals([] {}).join();
  auto hosts = bootstrap.hosts();
  transport::Placement placement{
      bootstrap.self(), bootstrap.nodes(), {hosts.begin(), hosts.end()}, bootstrap.is_guest(), {}};
  auto clusters = bootstrap.clusters();
  placement.cluster_of.assign(clusters.begin(), clusters.end());
  auto routes = take_routes(bootstrap.routes());
  if (!routes) return routes.error();
  auto factory = transport::make_transport(options.transport, placement,
                                           {.net = options.net,
                                            .extra_latency_ns = options.extra_latency_us * 1000,
                                            .routes = std::move(routes).value()});
  if (!factory) return factory.error();
  auto card = factory.value()->open(placement, regions);
  if (!card) return card.error();
  const Introduction mine{job_facts(options, interface), platform::usable_processors(),
                          waiting::machine_identity(), saying.size()};
  std::vector<std::byte> bytes(sizeof mine);
  std::memcpy(bytes.data(), &mine, sizeof mine);
  bytes.insert(bytes.end(), saying.begin(), saying.end());
  bytes.insert(bytes.end(), card.value().bytes.begin(), card.value().bytes.end());
  auto all = bootstrap.exchange(bytes, card.value().fds);
  if (!all) return all.error();
  Cards cards;
  for (std::uint32_t node = 0; node < placement.nodes; ++node) {
    auto taken = cards.take(bootstrap, mine, node, std::move(all.value()[node]));
    if (!taken) return taken.error();
  }
  waiting::ProcessorShare share = waiting::processor_share(mine.processors, cards.on_machine);
  waiting::share_processors(share.nodes, share.processors);
  waiting::choose_mode(options.wait);
  auto transport = factory.value()->connect(std::move(cards.of_transport));
  if (!transport) return transport.error();
  if (options.verbose && bootstrap.self().value == 0)
    base::log("messages by {}", transport.value()->describe());
  return Wiring{std::move(transport).value(), std::move(cards.said)};
}

base::Result<transport::Card> card_of_newcomer(std::span<const std::byte> contribution) {
  Introduction theirs;
  if (contribution.size() < sizeof theirs) return base::error("it did not introduce itself");
  std::memcpy(&theirs, contribution.data(), sizeof theirs);
  auto rest = contribution.subspan(sizeof theirs);
  if (rest.size() < theirs.said_bytes) return base::error("it broke off in its introduction");
  rest = rest.subspan(theirs.said_bytes);
  return transport::Card{{rest.begin(), rest.end()}, {}};
}

}  // namespace terrane::runtime
