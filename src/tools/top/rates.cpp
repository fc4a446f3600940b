#include "tools/top/rates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools::top {
namespace {

using bootstrap::NodeSnapshot;

// What an event of a page or lock costs beside the waiting, in seconds, about.
constexpr double kEventCost = 1e-6, kAcquireCost = 50e-9;

// Counters whose parts are estimates may be a little lower than before.
double grown(std::uint64_t before, std::uint64_t now) {
  return now < before ? 0 : static_cast<double>(now - before);
}

const NodeView* find(const JobView& view, std::uint32_t node) {
  auto at = std::find_if(view.nodes.begin(), view.nodes.end(),
                         [node](const NodeView& one) { return one.node == node; });
  return at == view.nodes.end() ? nullptr : &*at;
}

void add_times(const NodeSnapshot& before, const NodeSnapshot& now, double seconds, NodeRates& to) {
  to.threads = now.threads;
  to.handler = grown(before.handler_ns, now.handler_ns) * 1e-9 / seconds;
  double lived = grown(before.lived_ns, now.lived_ns);
  if (lived <= 0) return;
  to.faults = grown(before.fault_ns, now.fault_ns) / lived;
  to.locks = grown(before.lock_ns, now.lock_ns) / lived;
  to.barriers = grown(before.barrier_ns, now.barrier_ns) / lived;
  to.protocol = grown(before.protocol_ns, now.protocol_ns) / lived;
  to.computing = std::max(0.0, 1 - to.faults - to.locks - to.barriers - to.protocol);
}

void add_counts(const NodeSnapshot& before, const NodeSnapshot& now, double seconds,
                NodeRates& to) {
  auto rate = [&](std::uint64_t NodeSnapshot::*of) { return grown(before.*of, now.*of) / seconds; };
  to.page_faults = rate(&NodeSnapshot::read_faults) + rate(&NodeSnapshot::write_faults);
  to.fetched = rate(&NodeSnapshot::fetched);
  to.refreshed = rate(&NodeSnapshot::refreshed);
  to.zeros = rate(&NodeSnapshot::zeros);
  to.flushed = rate(&NodeSnapshot::flushed);
  to.flushed_bytes = rate(&NodeSnapshot::flushed_bytes);
  to.evicted = rate(&NodeSnapshot::evicted);
  to.acquires = rate(&NodeSnapshot::acquires);
  to.sent = rate(&NodeSnapshot::sent);
  to.sent_bytes = rate(&NodeSnapshot::sent_bytes);
  to.received = rate(&NodeSnapshot::received);
  to.received_bytes = rate(&NodeSnapshot::received_bytes);
  to.chunk_sent_bytes = rate(&NodeSnapshot::chunk_sent_bytes);
  to.chunk_received_bytes = rate(&NodeSnapshot::chunk_received_bytes);
}

NodeRates node_rates(const NodeView* before, const NodeView& now) {
  NodeRates to{.node = now.node, .host = now.host, .resident = now.resident_bytes};
  if (before == nullptr) return to;
  if (now.at_ns > before->at_ns)
    to.processors = grown(before->processor_ns, now.processor_ns) /
                    static_cast<double>(now.at_ns - before->at_ns);
  auto from = bootstrap::decode_snapshot(before->snapshot);
  auto until = bootstrap::decode_snapshot(now.snapshot);
  if (!until) return to;
  to.homes = until->home_bytes;
  to.copies = until->copy_bytes;
  to.kept = until->kept_bytes;
  to.has_limit = until->limit_bytes != 0 && until->limit_bytes != NodeSnapshot::kNoLimit;
  if (to.has_limit) to.room = until->limit_bytes - std::min(until->limit_bytes, until->kept_bytes);
  if (!from || until->at_ns <= from->at_ns) return to;
  to.answers = true;
  double seconds = static_cast<double>(until->at_ns - from->at_ns) * 1e-9;
  add_times(*from, *until, seconds, to);
  add_counts(*from, *until, seconds, to);
  return to;
}

// What nodes have in one page, lock or chunk, with what it costs each.
template <typename Rates>
struct Shared {
  Rates rates;
  double cost = 0;
  std::vector<std::pair<double, std::uint32_t>> nodes;

  void add(std::uint32_t node, double more) {
    cost += more;
    if (more > 0) nodes.emplace_back(more, node);
  }
};

template <typename Key, typename Rates>
std::vector<Rates> sorted(std::map<Key, Shared<Rates>> all) {
  std::vector<std::pair<double, Rates>> list;
  for (auto& [key, one] : all) {
    if (one.cost <= 0) continue;
    std::stable_sort(one.nodes.begin(), one.nodes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& part : one.nodes) one.rates.nodes.push_back(part.second);
    list.emplace_back(one.cost, std::move(one.rates));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Rates> rates;
  for (auto& one : list) rates.push_back(std::move(one.second));
  return rates;
}

// Adds the lists of all nodes up, each over the time since that node's snapshot before.
struct Lists {
  std::map<std::uint64_t, Shared<PageRates>> pages;
  std::map<std::uint64_t, Shared<LockRates>> locks;
  std::map<std::string, Shared<StreamRates>> streams;

  void add(std::uint32_t node, const NodeSnapshot& now) {
    if (now.recent_ns == 0) return;
    double seconds = static_cast<double>(now.recent_ns) * 1e-9;
    auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
    for (const bootstrap::PageSnapshot& one : now.pages) {
      Shared<PageRates>& to = pages[one.page];
      to.rates.page = one.page;
      to.rates.address = one.address;
      if (to.rates.name.empty()) to.rates.name = one.name;
      const bootstrap::PageCounts& c = one.recent;
      to.rates.faults += rate(c.faults);
      to.rates.fetched += rate(c.fetched);
      to.rates.refreshed += rate(c.refreshed);
      to.rates.flushed += rate(c.flushed);
      to.rates.flushed_bytes += rate(c.flushed_bytes);
      to.rates.waited += rate(c.waited_ns) * 1e-9;
      to.add(node, rate(c.waited_ns) * 1e-9 +
                       kEventCost * rate(c.faults + c.fetched + c.refreshed + c.flushed));
    }
    for (const bootstrap::LockSnapshot& one : now.locks) {
      Shared<LockRates>& to = locks[one.token];
      to.rates.token = one.token;
      to.rates.name = one.name;
      to.rates.acquires += rate(one.recent.acquires);
      to.rates.remote += rate(one.recent.remote);
      to.rates.waited += rate(one.recent.waited_ns) * 1e-9;
      to.add(node, rate(one.recent.waited_ns) * 1e-9 + kEventCost * rate(one.recent.remote) +
                       kAcquireCost * rate(one.recent.acquires));
    }
    for (const bootstrap::StreamSnapshot& one : now.streams) {
      Shared<StreamRates>& to = streams[one.name];
      to.rates.name = one.name;
      to.rates.written += rate(one.recent.written);
      to.rates.written_bytes += rate(one.recent.written_bytes);
      to.rates.taken += rate(one.recent.taken);
      to.rates.wait += rate(one.recent.waited_ns) * 1e-9;
      to.add(node, rate(one.recent.written + one.recent.taken));
    }
  }
};

}  // namespace

JobRates rates_of(const JobView& before, const JobView& now) {
  JobRates job{.job = now.job,
               .program = now.program,
               .file = now.file,
               .process = now.process,
               .age = static_cast<double>(now.age_ms) / 1000,
               .places = now.places,
               .nodes = {},
               .pages = {},
               .locks = {},
               .streams = {}};
  Lists lists;
  for (const NodeView& node : now.nodes) {
    job.nodes.push_back(node_rates(find(before, node.node), node));
    if (auto snapshot = bootstrap::decode_snapshot(node.snapshot)) lists.add(node.node, *snapshot);
  }
  for (auto& one : lists.streams) {
    StreamRates& rates = one.second.rates;
    rates.wait = rates.taken > 0 ? rates.wait / rates.taken : 0;
  }
  job.pages = sorted(std::move(lists.pages));
  job.locks = sorted(std::move(lists.locks));
  job.streams = sorted(std::move(lists.streams));
  return job;
}

}  // namespace terrane::tools::top
