#include "routing/router.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

Router::Router(Address self, Limits limits) : self_(self), limits_(limits) { gateways_[self]; }

// ---- Neighbours

bool Router::open(std::uint32_t number, Address neighbour) {
  for (const auto& [other, port] : ports_)
    if (port.neighbour == neighbour) return false;
  auto [found, is_new] = ports_.try_emplace(number);
  TERRANE_CHECK(is_new, "a port has one neighbour");
  Port& port = found->second;
  port.neighbour = neighbour;
  port.is_gateway = neighbour.is_gateway() && neighbour != self_;
  if (port.is_gateway) {
    for (const auto& [gateway, known] : gateways_) port.links.insert(gateway);
  } else {
    for (const auto& [address, route] : routes_) advertise(number, address, false);
  }
  change_links();
  return true;
}

void Router::close(std::uint32_t number) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return;
  for (auto& [pair, queue] : found->second.queues) {
    mark(Mark::kPortClosedFull);
    drop(queue);
  }
  ports_.erase(found);
  change_links();
}

bool Router::received(std::uint32_t number, const FrameHeader& header, Bytes payload) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return false;
  Port& port = found->second;
  if (!is_frame(header) || payload.size() != header.payload_bytes) return false;
  if (header.kind == FrameKind::kBeat) return true;
  if (header.kind == FrameKind::kReach || header.kind == FrameKind::kLinks) {
    if (!port.is_gateway || header.from != port.neighbour) return false;
    return header.kind == FrameKind::kReach ? again(number, payload) : learn(number, port, payload);
  }
  if (!port.is_gateway && header.from != port.neighbour) return false;
  auto route = routes_.find(header.to);
  bool loops = header.hops + 1 >= kUnreachable;
  if (route == routes_.end() || route->second.port == number || loops) {
    if (!loops) mark(route == routes_.end() ? Mark::kNoWay : Mark::kNotBack);
    ++counters_.dropped;
    return true;
  }
  FrameHeader passed = header;
  passed.hops = port.is_gateway ? header.hops + 1 : 1;
  pass_on(ports_.at(route->second.port), passed, payload);
  return true;
}

// ---- What can be reached

bool Router::Known::has(Address address) const {
  return std::binary_search(neighbours.begin(), neighbours.end(), address);
}

void Router::Paths::add(std::uint8_t other_hops, const std::vector<std::uint32_t>& others) {
  if (hops != 0 && other_hops > hops) return;
  if (other_hops != hops) ports.clear();
  hops = other_hops;
  for (std::uint32_t port : others)
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
}

void Router::change_links() {
  Known& own = gateways_[self_];
  ++own.version;
  own.neighbours.clear();
  for (const auto& [number, port] : ports_) own.neighbours.push_back(port.neighbour);
  std::sort(own.neighbours.begin(), own.neighbours.end());
  for (auto& [number, port] : ports_)
    if (port.is_gateway) port.links.insert(self_);
  choose_routes();
}

// A neighbour gateway has sent links, which may be newer than the known ones.
bool Router::learn(std::uint32_t number, Port& port, Bytes payload) {
  Links head;
  std::memcpy(&head, payload.data(), sizeof head);
  if (!head.gateway.is_gateway() || head.version >> 62 != 0) return false;
  Known theirs{
      .version = head.version,
      .neighbours = std::vector<Address>((payload.size() - sizeof head) / sizeof(Address))};
  if (!theirs.neighbours.empty())
    std::memcpy(theirs.neighbours.data(), payload.data() + sizeof head,
                payload.size() - sizeof head);
  if (!std::is_sorted(theirs.neighbours.begin(), theirs.neighbours.end())) return false;
  auto found = gateways_.find(head.gateway);
  if (found == gateways_.end()) {
    if (gateways_.size() >= kMaxGateways) return false;
    found = gateways_.emplace(head.gateway, Known{}).first;
  }
  Known& known = found->second;
  if (theirs == known) return true;
  if (theirs < known && !(mutant(Mutant::kOldLinksAccepted) && head.gateway != self_)) {
    mark(Mark::kLinksOld);
    port.links.insert(head.gateway);
    return true;
  }
  if (head.gateway == self_) {
    // This gateway was started before, and other gateways still know its former links.
    mark(Mark::kLinksRaised);
    if (mutant(Mutant::kRestartForgotten)) return true;
    known.version = theirs.version + 1;
    spread(self_, ~0u);
    return true;
  }
  known = std::move(theirs);
  if (!mutant(Mutant::kLinksKept)) spread(head.gateway, number);
  choose_routes();
  return true;
}

void Router::spread(Address gateway, std::uint32_t except) {
  for (auto& [number, port] : ports_)
    if (port.is_gateway && number != except) port.links.insert(gateway);
}

// Uses only links that both of their gateways report.
std::map<Address, Router::Paths> Router::shortest_paths() const {
  std::map<Address, Paths> all, gateways, next;
  for (const auto& [number, port] : ports_) {
    if (!port.is_gateway) {
      all[port.neighbour].add(1, {number});
      continue;
    }
    auto known = gateways_.find(port.neighbour);
    if (known != gateways_.end() && known->second.has(self_)) next[port.neighbour].add(1, {number});
  }
  gateways[self_];
  while (!next.empty()) {
    std::map<Address, Paths> now = std::exchange(next, {});
    gateways.insert(now.begin(), now.end());
    for (const auto& [gateway, paths] : now) {
      if (paths.hops + 1 >= kUnreachable) continue;
      const Known& known = gateways_.at(gateway);
      auto hops = static_cast<std::uint8_t>(paths.hops + 1);
      for (Address neighbour : known.neighbours) {
        if (!neighbour.is_gateway() || neighbour == gateway) {
          all[neighbour].add(hops, paths.ports);
          continue;
        }
        auto beyond = gateways_.find(neighbour);
        if (gateways.contains(neighbour) || beyond == gateways_.end() ||
            !beyond->second.has(gateway))
          continue;
        next[neighbour].add(hops, paths.ports);
      }
    }
  }
  return all;
}

void Router::choose_routes() {
  std::map<Address, Route> old = std::exchange(routes_, {});
  for (const auto& [address, paths] : shortest_paths()) {
    auto mine = [&, to = address](std::uint32_t number) {
      return score(self_, to, ports_.at(number).neighbour.value);
    };
    std::uint32_t best = paths.ports.front();
    for (std::uint32_t number : paths.ports)
      if (mine(number) > mine(best)) best = number;
    routes_.insert({address, {best, paths.hops}});
  }
  for (const auto& [address, route] : old) {
    auto now = routes_.find(address);
    if (now != routes_.end() && now->second.port == route.port) continue;
    mark(now == routes_.end() ? Mark::kRouteLost : Mark::kRouteChanged);
    // The senders of the dropped frames are notified, and send them again.
    auto port = ports_.find(route.port);
    if (port != ports_.end()) drop_queues(port->second, address);
    if (now == routes_.end()) tell(address, false);
  }
  for (const auto& [address, route] : routes_) {
    auto before = old.find(address);
    if (before != old.end() && before->second == route) continue;
    bool moved = before == old.end() || before->second.port != route.port;
    tell(address, moved && !mutant(Mutant::kRouteKeptQuiet));
  }
}

// A gateway is only notified of frames that may have been lost. It passes the notice on if its own
// route leads through this one.
void Router::tell(Address address, bool again) {
  auto route = routes_.find(address);
  for (auto& [number, port] : ports_) {
    if (!port.is_gateway) {
      advertise(number, address, again);
    } else if (again && route->second.port != number) {
      port.changes[address] = true;
    }
  }
}

bool Router::again(std::uint32_t number, Bytes payload) {
  for (; !payload.empty(); payload = payload.subspan(sizeof(ReachEntry))) {
    ReachEntry entry;
    std::memcpy(&entry, payload.data(), sizeof entry);
    auto route = routes_.find(entry.address);
    if (entry.again == 0 || route == routes_.end() || route->second.port != number) continue;
    mark(Mark::kAgainPassedOn);
    if (!mutant(Mutant::kAgainDropped)) tell(entry.address, true);
  }
  return true;
}

// Enters a change for an end, which hears of all addresses that it can reach, except its own.
void Router::advertise(std::uint32_t number, Address address, bool again) {
  Port& port = ports_.at(number);
  auto route = routes_.find(address);
  bool hidden = route == routes_.end() || port.neighbour == address;
  std::uint8_t hops = hidden ? kUnreachable : route->second.hops;
  auto told = port.told.find(address);
  if (told == port.told.end() ? hidden : told->second == hops && !again) return;
  if (hidden) {
    port.told.erase(told);
  } else {
    port.told[address] = hops;
  }
  bool& change = port.changes[address];
  change = change || again || hidden;
}

// ---- Frames that pass

void Router::pass_on(Port& port, const FrameHeader& header, Bytes payload) {
  Pair pair{header.to, header.from};
  if (header.kind == FrameKind::kTaken) {
    Taken taken{header.position, header.hops};
    auto [found, is_new] = port.takens.emplace(pair, taken);
    if (!is_new) mark(Mark::kTakenMerged);
    if (taken.position > found->second.position) found->second = taken;
    return;
  }
  Queue& queue = port.queues[pair];
  std::uint64_t bytes = frame_bytes(header.payload_bytes);
  if (queue.frames.empty()) {
    queue.pair = pair;
    port.turns.add(queue);
  }
  std::optional<std::size_t> place = place_of(queue, header.position, bytes);
  if (!place) {
    ++counters_.dropped;
    return;
  }
  Waiting waiting{.position = header.position, .bytes = {}};
  waiting.bytes.reserve(bytes);
  append_frame(waiting.bytes, header, payload);
  queue.frames.insert(queue.frames.begin() + static_cast<std::ptrdiff_t>(*place),
                      std::move(waiting));
  counters_.held_bytes += bytes;
  counters_.most_held_bytes = std::max(counters_.most_held_bytes, counters_.held_bytes);
}

// If a sender has sent up to some position, its receiver has taken all frames that begin more than
// a window before that position.
std::optional<std::size_t> Router::place_of(Queue& queue, std::uint64_t position,
                                            std::uint64_t bytes) {
  auto& frames = queue.frames;
  std::uint64_t end = position + bytes;
  if (frames.empty() || mutant(Mutant::kQueuesDuplicates)) return frames.size();
  if (position + limits_.window < frames.back().end()) {
    mark(Mark::kQueuedStale);
    return std::nullopt;
  }
  auto next = std::lower_bound(frames.begin(), frames.end(), position,
                               [](const Waiting& w, std::uint64_t p) { return w.position < p; });
  bool overlaps = (next != frames.end() && next->position < end) ||
                  (next != frames.begin() && std::prev(next)->end() > position);
  if (overlaps) {
    mark(Mark::kQueuedTwice);
    return std::nullopt;
  }
  auto place = static_cast<std::size_t>(next - frames.begin());
  if (next != frames.end()) mark(Mark::kQueuedBefore);
  for (; place > 0 && frames.front().position + limits_.window < end; --place) {
    mark(Mark::kQueuedStale);
    counters_.held_bytes -= frames.front().bytes.size();
    frames.pop_front();
    ++counters_.dropped;
  }
  return place;
}

void Router::drop_queues(Port& port, Address to) {
  port.takens.erase(port.takens.lower_bound({to, Address{0}}),
                    port.takens.upper_bound({to, Address{~0u}}));
  auto begin = port.queues.lower_bound({to, Address{0}});
  auto end = port.queues.upper_bound({to, Address{~0u}});
  for (auto queue = begin; queue != end; ++queue) {
    mark(Mark::kQueueRerouted);
    port.turns.remove(queue->second);
    drop(queue->second);
  }
  port.queues.erase(begin, end);
}

void Router::drop(Queue& queue) {
  counters_.dropped += queue.frames.size();
  for (const Waiting& waiting : queue.frames) counters_.held_bytes -= waiting.bytes.size();
}

bool Router::has_output(std::uint32_t number) const {
  auto found = ports_.find(number);
  if (found == ports_.end()) return false;
  const Port& port = found->second;
  return !port.links.empty() || !port.changes.empty() || !port.takens.empty() ||
         (!port.turns.empty() && !is_held_up(port));
}

bool Router::has_changes(std::uint32_t number) const {
  auto found = ports_.find(number);
  return found != ports_.end() && (!found->second.links.empty() || !found->second.changes.empty());
}

std::uint64_t Router::held_bytes(Address from, Address to) const {
  std::uint64_t bytes = 0;
  auto route = routes_.find(to);
  if (route == routes_.end()) return 0;
  const Port& port = ports_.at(route->second.port);
  auto queue = port.queues.find({to, from});
  if (queue == port.queues.end()) return 0;
  for (const Waiting& waiting : queue->second.frames) bytes += waiting.bytes.size();
  return bytes;
}

// Only with a planted fault: half a window or more waits for another neighbour.
bool Router::is_held_up(const Port& port) const {
  if (!mutant(Mutant::kNeighbourBlocks)) return false;
  for (const auto& [number, other] : ports_) {
    std::uint64_t bytes = 0;
    for (const auto& [pair, queue] : other.queues)
      for (const Waiting& waiting : queue.frames) bytes += waiting.bytes.size();
    if (&other != &port && bytes >= limits_.window / 2) return true;
  }
  return false;
}

void Router::fill_links(Port& port, std::vector<std::byte>& out) {
  auto gateway = port.links.begin();
  const Known& known = gateways_.at(*gateway);
  Links head{.gateway = *gateway, .version = known.version};
  std::size_t count = std::min(known.neighbours.size(), kMostNeighbours);
  std::vector<std::byte> payload(sizeof head + count * sizeof(Address));
  std::memcpy(payload.data(), &head, sizeof head);
  if (count > 0)
    std::memcpy(payload.data() + sizeof head, known.neighbours.data(), count * sizeof(Address));
  append_frame(out,
               {.payload_bytes = static_cast<std::uint32_t>(payload.size()),
                .kind = FrameKind::kLinks,
                .from = self_,
                .to = port.neighbour},
               payload);
  port.links.erase(gateway);
}

void Router::fill_changes(Port& port, std::vector<std::byte>& out) {
  constexpr std::size_t kMost = kMaxPayloadBytes / sizeof(ReachEntry);
  std::vector<ReachEntry> entries;
  while (!port.changes.empty() && entries.size() < kMost) {
    auto [address, again] = *port.changes.begin();
    port.changes.erase(port.changes.begin());
    auto told = port.told.find(address);
    std::uint8_t hops = told == port.told.end() ? kUnreachable : told->second;
    entries.push_back({.address = address, .hops = hops, .again = again});
  }
  Bytes payload = std::as_bytes(std::span(entries));
  append_frame(out,
               {.payload_bytes = static_cast<std::uint32_t>(payload.size()),
                .kind = FrameKind::kReach,
                .from = self_,
                .to = port.neighbour},
               payload);
}

void Router::fill(std::uint32_t number, std::vector<std::byte>& out, std::size_t at_most) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return;
  Port& port = found->second;
  std::size_t before = out.size();
  while (out.size() < at_most && !port.links.empty()) fill_links(port, out);
  while (out.size() < at_most && !port.changes.empty()) fill_changes(port, out);
  while (out.size() < at_most && !port.takens.empty()) {
    auto taken = port.takens.begin();
    append_frame(out,
                 {.kind = FrameKind::kTaken,
                  .hops = taken->second.hops,
                  .from = taken->first.second,
                  .to = taken->first.first,
                  .position = taken->second.position},
                 {});
    port.takens.erase(taken);
  }
  while (out.size() < at_most && !port.turns.empty() && !is_held_up(port)) {
    Queue& queue = port.turns.front();
    const std::vector<std::byte>& bytes = queue.frames.front().bytes;
    out.insert(out.end(), bytes.begin(), bytes.end());
    ++counters_.frames;
    counters_.bytes += bytes.size();
    port.turns.charge(bytes.size());
    remove_front(port, queue);
  }
  if (out.size() > before) ++counters_.batches;
}

void Router::remove_front(Port& port, Queue& queue) {
  counters_.held_bytes -= queue.frames.front().bytes.size();
  queue.frames.pop_front();
  if (!queue.frames.empty()) return;
  port.turns.remove(queue);
  port.queues.erase(queue.pair);
}

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
