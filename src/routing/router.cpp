#include "routing/router.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

Router::Router(Address self, Limits limits) : self_(self), limits_(limits) {}

// ---- Neighbours

bool Router::open(std::uint32_t number, Address neighbour) {
  for (const auto& [other, port] : ports_)
    if (port.neighbour == neighbour) return false;
  auto [found, is_new] = ports_.try_emplace(number);
  TERRANE_CHECK(is_new, "a port has one neighbour");
  Port& port = found->second;
  port.neighbour = neighbour;
  port.is_gateway = neighbour.is_gateway() && neighbour != self_;
  for (const auto& [address, route] : routes_) advertise(number, address, false);
  if (port.is_gateway) return true;
  port.hops[neighbour] = 1;
  choose(neighbour, false);
  return true;
}

void Router::close(std::uint32_t number) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return;
  Port port = std::move(found->second);
  ports_.erase(found);
  for (auto& [pair, queue] : port.queues) {
    mark(Mark::kPortClosedFull);
    drop(queue);
  }
  for (const auto& [address, hops] : port.hops) choose(address, false);
}

bool Router::received(std::uint32_t number, const FrameHeader& header, Bytes payload) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return false;
  Port& port = found->second;
  if (!is_frame(header) || payload.size() != header.payload_bytes) return false;
  if (header.kind == FrameKind::kBeat) return true;
  if (header.kind == FrameKind::kReach)
    return port.is_gateway && header.from == port.neighbour && reach(number, port, payload);
  if (!port.is_gateway && header.from != port.neighbour) return false;
  auto route = routes_.find(header.to);
  bool loops = header.hops + 1 >= kUnreachable && !mutant(Mutant::kCountsForever);
  if (route == routes_.end() || route->second.port == number || loops) {
    mark(route == routes_.end()         ? Mark::kNoWay
         : route->second.port == number ? Mark::kNotBack
                                        : Mark::kTooManyHops);
    ++counters_.dropped;
    return true;
  }
  FrameHeader passed = header;
  passed.hops = port.is_gateway ? header.hops + 1 : 1;
  pass_on(ports_.at(route->second.port), passed, payload);
  return true;
}

// ---- What can be reached

bool Router::reach(std::uint32_t number, Port& port, Bytes payload) {
  for (; !payload.empty(); payload = payload.subspan(sizeof(ReachEntry))) {
    ReachEntry entry;
    std::memcpy(&entry, payload.data(), sizeof entry);
    if (entry.hops == 0) return false;
    if (entry.address == self_) continue;
    std::uint8_t hops = std::min<std::uint8_t>(entry.hops, kUnreachable) + 1;
    if (mutant(Mutant::kCountsForever) && entry.hops < kUnreachable)
      hops = std::min<std::uint8_t>(hops, kUnreachable - 1);
    if (hops >= kUnreachable) {
      port.hops.erase(entry.address);
    } else {
      if (port.hops.size() >= kMaxAddresses) return false;
      port.hops[entry.address] = hops;
    }
    auto route = routes_.find(entry.address);
    choose(entry.address,
           entry.again != 0 && route != routes_.end() && route->second.port == number);
  }
  return true;
}

std::optional<Router::Route> Router::best_route(Address address) const {
  std::optional<Route> best;
  std::uint64_t most = 0;
  for (const auto& [number, port] : ports_) {
    auto found = port.hops.find(address);
    if (found == port.hops.end() || (best && found->second > best->hops)) continue;
    std::uint64_t mine = score(self_, address, port.neighbour.value);
    if (best && found->second == best->hops && mine <= most) continue;
    best = Route{number, found->second};
    most = mine;
  }
  return best;
}

void Router::choose(Address address, bool again) {
  auto old = routes_.find(address);
  std::optional<Route> best = best_route(address);
  bool moved = old != routes_.end() && (!best || best->port != old->second.port);
  if (moved) {
    mark(best ? Mark::kRouteChanged : Mark::kRouteLost);
    // Their senders hear of it, and send them again.
    auto port = ports_.find(old->second.port);
    if (port != ports_.end()) drop_queues(port->second, address);
  } else if (again) {
    mark(Mark::kAgainPassedOn);
    again = !mutant(Mutant::kAgainDropped);
  }
  bool same = best && old != routes_.end() && !moved && best->hops == old->second.hops;
  if ((same && !again) || (!best && old == routes_.end())) return;
  if (best) {
    routes_.insert_or_assign(address, *best);
  } else {
    routes_.erase(old);
  }
  if (mutant(Mutant::kRouteKeptQuiet)) moved = false;
  for (const auto& [number, port] : ports_) advertise(number, address, moved || again);
}

// Split horizon: an address is not told to the neighbour that leads to it.
void Router::advertise(std::uint32_t number, Address address, bool again) {
  Port& port = ports_.at(number);
  auto route = routes_.find(address);
  bool hidden = route == routes_.end() ||
                (route->second.port == number && !mutant(Mutant::kCountsForever)) ||
                port.neighbour == address;
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

// A sender that has sent up to some position has heard that all more than a window before it was
// taken.
std::optional<std::size_t> Router::place_of(Queue& queue, std::uint64_t position,
                                            std::uint64_t bytes) {
  auto& frames = queue.frames;
  std::uint64_t end = position + bytes;
  if (frames.empty() || mutant(Mutant::kQueuesDuplicates)) return frames.size();
  if (end + limits_.window <= frames.back().end()) {
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
  for (; place > 0 && frames.front().end() + limits_.window <= end; --place) {
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
  return !port.changes.empty() || !port.takens.empty() || !port.turns.empty();
}

void Router::fill_changes(Port& port, std::vector<std::byte>& out) {
  constexpr std::size_t kMost = kMaxPayloadBytes / sizeof(ReachEntry);
  std::vector<ReachEntry> entries;
  while (!port.changes.empty() && entries.size() < kMost) {
    auto [address, again] = *port.changes.begin();
    port.changes.erase(port.changes.begin());
    auto told = port.told.find(address);
    entries.push_back({.address = address,
                       .hops = told == port.told.end() ? kUnreachable : told->second,
                       .again = again});
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
  while (out.size() < at_most && !port.turns.empty()) {
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
