#include "transport/routed/reach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "platform/wait.h"

namespace terrane::transport::routed {
namespace {

constexpr std::uint64_t kSilenceMs = 3000;  // of a gateway's host
// Where there are several: so long for each, and so often, before the others do without it.
constexpr std::uint64_t kTurnMs = 1000;
constexpr int kTurns = 3;

base::Result<std::string> reach(End& end, const stream::Door& door,
                                const stream::Credentials& credentials, const Hello& ours,
                                const stream::DialLimits& limits) {
  auto reached = stream::dial(door, credentials, limits);
  if (!reached) return base::error("no gateway answers at {}", reached.error().message);
  auto hello = exchange_hello(*reached.value(), ours, limits.timeout_ms);
  if (!hello)
    return base::error("the gateway at port {} of {}: {}", door.port,
                       fmt::join(door.addresses, ", "), hello.error().message);
  reached.value()->limit_silence(kSilenceMs);
  if (auto added = end.add_way(std::move(reached).value()); !added) return added.error();
  return hello.value().name;
}

}  // namespace

base::Result<std::vector<std::string>> reach_gateways(End& end,
                                                      const std::vector<stream::Door>& gateways,
                                                      const stream::Credentials& credentials,
                                                      const Hello& ours,
                                                      const stream::DialLimits& limits) {
  std::vector<std::string> names;
  std::vector<bool> is_reached(gateways.size());
  base::Error last{"there is no gateway"};
  std::uint64_t until_ns = platform::now_ns() + limits.timeout_ms * 1'000'000;
  for (int turn = 0; turn == 0 || platform::now_ns() < until_ns; ++turn) {
    stream::DialLimits once = limits;
    if (gateways.size() > 1) once.timeout_ms = std::min(limits.timeout_ms, kTurnMs);
    for (std::size_t number = 0; number < gateways.size(); ++number) {
      if (is_reached[number]) continue;
      auto name = reach(end, gateways[number], credentials, ours, once);
      is_reached[number] = name.ok();
      if (name)
        names.push_back(std::move(name).value());
      else
        last = name.error();
    }
    bool all = names.size() == gateways.size();
    if (all || (!names.empty() && turn + 1 >= kTurns)) return names;
    bool given_up = gateways.size() == 1 || (limits.given_up && limits.given_up());
    if (given_up) break;
  }
  return last;
}

}  // namespace terrane::transport::routed
