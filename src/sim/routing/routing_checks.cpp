// The checks of a history.
#include <algorithm>

#include "sim/routing/routing_history.h"

namespace terrane::sim {

using routing::Address;

std::uint8_t RoutingHistory::byte_of(std::uint32_t from, std::uint32_t to, std::size_t index,
                                     std::size_t at) {
  return static_cast<std::uint8_t>(from * 31 + to * 17 + index * 13 + at * 7 + (at >> 8));
}

void RoutingHistory::received(std::uint32_t e, Address from, std::uint16_t tag,
                              routing::Bytes message) {
  Pair& mine = ends_[e].pairs[from.value];
  const Pair& theirs = ends_[from.value].pairs[e];
  std::size_t index = mine.received++;
  ++outcome_.messages;
  if (trace_)
    trace_->add(schedule_.picks(), "end {}: has message {} of end {}, {} bytes", e, index,
                from.value, message.size());
  if (index >= theirs.sent.size())
    violated(Fault::kWrongMessage, "end {} receives message {} of end {}, which has sent {}", e,
             index, from.value, theirs.sent.size());
  const Message& sent = theirs.sent[index];
  bool right = sent.tag == tag && sent.bytes == message.size();
  for (std::size_t i = 0; right && i < message.size(); ++i)
    right = message[i] == std::byte{byte_of(from.value, e, index, i)};
  if (!right)
    violated(Fault::kWrongMessage,
             "end {} receives {} bytes with tag {} from end {}, whose message {} has {} bytes and "
             "tag {}, or other bytes",
             e, message.size(), tag, from.value, index, sent.bytes, sent.tag);
}

void RoutingHistory::received_bye(std::uint32_t e, Address from) {
  Pair& mine = ends_[e].pairs[from.value];
  const Pair& theirs = ends_[from.value].pairs[e];
  if (mine.has_bye || !theirs.said_bye || mine.received != theirs.sent.size())
    violated(Fault::kWrongMessage, "end {} receives a bye of end {} after {} of {} messages", e,
             from.value, mine.received, theirs.sent.size());
  mine.has_bye = true;
  ends_[e].out->gone(from);
}

void RoutingHistory::check_held(const routing::Router& router,
                                const routing::FrameHeader& header) const {
  std::uint64_t held = router.held_bytes(header.from, header.to);
  if (held > window_)
    violated(Fault::kTooMuchHeld, "{} bytes of {:x} to {:x} wait at a gateway; the window is {}",
             held, header.from.value, header.to.value, window_);
}

// Looks for a path of connections that are open at both sides.
bool RoutingHistory::leads(std::uint32_t from, std::uint32_t to, std::uint64_t settled) const {
  std::vector<bool> gateways(gateways_.size());
  auto usable = [&](const Connection& connection) {
    const auto& [a, b] = connection.sides;
    return a.open && b.open && !a.cut && !b.cut && connection.settled_open < settled;
  };
  auto at_end = [&](const Connection& connection, std::uint32_t end) {
    const auto& [a, b] = connection.sides;
    return a.is_end && !b.is_end && a.machine == end && usable(connection);
  };
  for (const Connection& connection : connections_) {
    const auto& [a, b] = connection.sides;
    if (at_end(connection, from)) gateways[b.machine] = true;
    bool theirs = (a.machine == from && b.machine == to) || (a.machine == to && b.machine == from);
    if (a.is_end && b.is_end && theirs && usable(connection)) return true;
  }
  for (std::size_t n = 0; n < gateways_.size(); ++n)
    for (const Connection& connection : connections_) {
      const auto& [a, b] = connection.sides;
      if (a.is_end || !usable(connection)) continue;
      if (gateways[a.machine] || gateways[b.machine])
        gateways[a.machine] = gateways[b.machine] = true;
    }
  return std::any_of(connections_.begin(), connections_.end(), [&](const Connection& connection) {
    return at_end(connection, to) && gateways[connection.sides[1].machine];
  });
}

void RoutingHistory::check_lost(std::uint32_t e) {
  const End& end = ends_[e];
  for (Address address : ends_[e].out->take_lost()) {
    std::uint32_t peer = address.value;
    if (trace_) trace_->add(schedule_.picks(), "end {}: has lost end {}", e, peer);
    if (leads(e, peer, end.settled_ticks))
      violated(Fault::kFalseLoss, "end {} takes end {} for lost, and a path led there all the time",
               e, peer);
    const End& other = ends_[peer];
    bool knew = other.out->is_lost(Address::of_node(e)) || other.pairs[e].has_bye;
    if (end.pairs[peer].has_bye || (other.left && !knew))
      violated(Fault::kFalseLoss, "end {} takes end {} for lost, which has said bye", e, peer);
  }
}

// Nothing can happen any more. Every message must have arrived, unless an end of its pair is dead,
// lost, gone or does not read.
void RoutingHistory::check_quiet() const {
  for (std::uint32_t from = 0; from < ends_.size(); ++from)
    for (std::uint32_t to = 0; to < ends_.size(); ++to)
      if (from != to) check_pair(from, to);
  for (const Gateway& gateway : gateways_) {
    // Only frames for ends that do not read may wait.
    bool deaf = std::any_of(ends_.begin(), ends_.end(), [](const End& e) { return e.stalled; });
    if (gateway.alive && !deaf && gateway.router->counters().held_bytes > 0)
      violated(Fault::kDeadlock, "a gateway holds {} bytes, and all ends read",
               gateway.router->counters().held_bytes);
  }
}

void RoutingHistory::check_pair(std::uint32_t from, std::uint32_t to) const {
  const End& a = ends_[from];
  const End& b = ends_[to];
  if (!a.alive || a.left || a.stalled) return;
  const Pair& pair = a.pairs[to];
  bool lost = a.out->is_lost(Address::of_node(to));
  bool led = leads(from, to, ~std::uint64_t{0});
  if (!led && pair.reached && !lost && !pair.has_bye)
    violated(Fault::kDeadlock, "end {} waits for end {}, to which no way leads any more", from, to);
  if (!b.alive || b.left || b.stalled || lost || b.out->is_lost(Address::of_node(from)) || !led)
    return;
  if (b.pairs[from].received != pair.sent.size())
    violated(Fault::kDeadlock, "end {} has received {} of {} messages of end {}", to,
             b.pairs[from].received, pair.sent.size(), from);
  if (pair.said_bye && a.out->kept_bytes(Address::of_node(to)) > 0)
    violated(Fault::kDeadlock, "end {} has not heard that end {} has taken its bye", from, to);
}

}  // namespace terrane::sim
