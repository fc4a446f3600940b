// Connections: each direction delivers whole frames in order, has little room, and may be cut off.
#include <algorithm>
#include <cstring>

#include "sim/routing/routing_history.h"

namespace terrane::sim {

using routing::Address;
using routing::FrameHeader;
using routing::FrameKind;

// Receives for an end.
class RoutingHistory::Deliveries : public routing::Inbound::Receiver {
 public:
  Deliveries(RoutingHistory& history, std::uint32_t end) : history_(history), end_(end) {}
  void message(Address from, std::uint16_t tag, routing::Bytes message) override {
    history_.received(end_, from, tag, message);
  }
  void bye(Address from) override { history_.received_bye(end_, from); }
  void broken(Address from) override {
    violated(Fault::kMalformed, "the frames of end {} to end {} contradict each other", from.value,
             end_);
  }

 private:
  RoutingHistory& history_;
  std::uint32_t end_;
};

// ---- Connections come and go

bool RoutingHistory::is_alive(const Side& side) const {
  if (!side.is_end) return gateways_[side.machine].alive;
  return ends_[side.machine].alive && !ends_[side.machine].left;
}

// Makes the connection. False if a side still has the previous one.
bool RoutingHistory::connect(std::uint32_t c) {
  Connection& connection = connections_[c];
  auto& [a, b] = connection.sides;
  if (!is_alive(a) || !is_alive(b)) return true;
  if (a.open && b.open && !a.cut && !b.cut) return true;
  if (a.open || b.open) return false;
  if (trace_)
    trace_->add(schedule_.picks(), "connection {}: is made, of {} {} and {} {}", c,
                a.is_end ? "end" : "gateway", a.machine, b.is_end ? "end" : "gateway", b.machine);
  connection.settled_open = settled_;
  for (Side& side : connection.sides) {
    end_side(side);
    side.cut = false;
    side.open = true;
  }
  open(a, b);
  open(b, a);
  refresh(a);
  refresh(b);
  return true;
}

// Notifies the side's machine of the connection with the other side.
void RoutingHistory::open(const Side& side, const Side& other) {
  Address address =
      other.is_end ? Address::of_node(other.machine) : Address::of_gateway(other.machine);
  if (!side.is_end) {
    gateways_[side.machine].router->open(side.number, address);
    return;
  }
  End& end = ends_[side.machine];
  end.out->open(side.number);
  if (!other.is_end) return;
  routing::ReachEntry entry{.address = address};
  FrameHeader header{.payload_bytes = sizeof entry, .kind = FrameKind::kReach, .from = address};
  end.out->control(side.number, header, std::as_bytes(std::span(&entry, 1)));
  end.pairs[other.machine].reached = true;
}

void RoutingHistory::end_side(Side& side) {
  side.open = false;
  side.frames.clear();
  side.bytes = 0;
}

// `loses`: the last frames under way are lost.
void RoutingHistory::break_off(std::uint32_t c, bool loses) {
  if (trace_ && loses) trace_->add(schedule_.picks(), "connection {}: breaks", c);
  outcome_.breaks += loses;
  for (Side& side : connections_[c].sides) {
    if (side.cut || !side.open) continue;
    side.cut = true;
    if (!loses || side.frames.empty()) continue;
    std::size_t keep = rng_.below(static_cast<std::uint32_t>(side.frames.size() + 1));
    while (side.frames.size() > keep) side.frames.pop_back();
  }
  refresh(c);
}

void RoutingHistory::kill_gateway(std::uint32_t g) {
  if (!gateways_[g].alive) return;
  if (trace_) trace_->add(schedule_.picks(), "gateway {}: dies", g);
  gateways_[g].alive = false;
  for (std::uint32_t c = 0; c < connections_.size(); ++c)
    for (Side& side : connections_[c].sides) {
      if (side.is_end || side.machine != g) continue;
      break_off(c, true);
      end_side(side);
      refresh(c);
    }
}

void RoutingHistory::start_gateway(std::uint32_t g) {
  if (gateways_[g].alive) return;
  if (trace_) trace_->add(schedule_.picks(), "gateway {}: starts again", g);
  gateways_[g].alive = true;
  gateways_[g].router =
      std::make_unique<routing::Router>(Address::of_gateway(g), routing::Router::Limits{window_});
}

void RoutingHistory::close(std::uint32_t c, std::uint32_t s) {
  Side& side = connections_[c].sides[s];
  if (trace_)
    trace_->add(schedule_.picks(), "{} {}: sees that connection {} has ended",
                side.is_end ? "end" : "gateway", side.machine, c);
  end_side(side);
  if (side.is_end) {
    ends_[side.machine].out->close(side.number);
  } else {
    gateways_[side.machine].router->close(side.number);
  }
}

// ---- Bytes come and go

bool RoutingHistory::has_output(const Side& side) const {
  return side.is_end ? ends_[side.machine].out->has_output(side.number)
                     : gateways_[side.machine].router->has_output(side.number);
}

void RoutingHistory::pump(std::uint32_t c, std::uint32_t s) {
  Side& side = connections_[c].sides[s];
  Side& other = connections_[c].sides[1 - s];
  std::vector<std::byte> bytes;
  auto at_most = 1 + rng_.below(static_cast<std::uint32_t>(2 * window_));
  if (side.is_end) {
    ends_[side.machine].out->fill(side.number, bytes, at_most);
  } else {
    gateways_[side.machine].router->fill(side.number, bytes, at_most);
  }
  if (bytes.empty()) violated(Fault::kBadAnswer, "there was output, and is none");
  for (std::size_t at = 0; at < bytes.size() && !other.cut;) {
    FrameHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    std::size_t size = routing::frame_bytes(header.payload_bytes);
    const std::byte* frame = bytes.data() + at;
    other.frames.emplace_back(frame, frame + size);
    other.bytes += size;
    at += size;
  }
  if (side.is_end) may_leave(side.machine);
  refresh(side);
  refresh(c);
}

void RoutingHistory::deliver(std::uint32_t c, std::uint32_t s) {
  Side& side = connections_[c].sides[s];
  Side machine{.is_end = side.is_end, .machine = side.machine};
  if (side.frames.empty()) {
    close(c, s);
  } else {
    std::vector<std::byte> frame = std::move(side.frames.front());
    side.frames.pop_front();
    side.bytes -= frame.size();
    FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof header);
    ++outcome_.frames;
    note(static_cast<std::uint64_t>(c) << 40 | static_cast<std::uint64_t>(header.kind) << 32 |
         header.position);
    if (trace_)
      trace_->add(schedule_.picks(), "{} {}: receives kind {} from {:x} to {:x} at {}, {} bytes",
                  side.is_end ? "end" : "gateway", side.machine, static_cast<int>(header.kind),
                  header.from.value, header.to.value, header.position, frame.size());
    receive(side, header, routing::Bytes(frame).subspan(sizeof header, header.payload_bytes));
  }
  if (machine.is_end) may_leave(machine.machine);
  refresh(machine);
  refresh(c);
}

void RoutingHistory::receive(Side& side, const FrameHeader& header, routing::Bytes payload) {
  bool right = false;
  if (!side.is_end) {
    routing::Router& router = *gateways_[side.machine].router;
    right = router.received(side.number, header, payload);
    check_held(router, header);
  } else {
    End& end = ends_[side.machine];
    Deliveries deliveries(*this, side.machine);
    if (header.kind == FrameKind::kData || header.kind == FrameKind::kBye) {
      right = end.in->frame(header, payload, deliveries);
      for (const routing::Inbound::Taken& taken : end.in->take_taken())
        end.out->tell_taken(taken.peer, taken.position);
    } else {
      right = end.out->control(side.number, header, payload);
      for (std::uint32_t other = 0; other < ends_.size(); ++other)
        end.pairs[other].reached |= end.out->reaches(Address::of_node(other));
      if (!end.out->take_lost().empty())
        violated(Fault::kMalformed, "end {} is told that more was taken than it sent",
                 side.machine);
    }
  }
  if (!right)
    violated(Fault::kMalformed, "{} {} refuses a frame of kind {} from {:x}",
             side.is_end ? "end" : "gateway", side.machine, static_cast<int>(header.kind),
             header.from.value);
}

// ---- Which actors can act

void RoutingHistory::refresh(const Side& machine) {
  for (std::uint32_t c = 0; c < connections_.size(); ++c)
    for (const Side& side : connections_[c].sides)
      if (side.is_end == machine.is_end && side.machine == machine.machine) refresh(c);
}

void RoutingHistory::refresh(std::uint32_t c) {
  Connection& connection = connections_[c];
  for (std::uint32_t s = 0; s < 2; ++s) {
    const Side& side = connection.sides[s];
    const Side& other = connection.sides[1 - s];
    auto can = [&](ActorId actor, bool ready) {
      ready ? schedule_.ready(actor) : schedule_.park(actor);
    };
    can(pump_of(c, s),
        side.open && (other.cut || other.bytes < connection.room) && has_output(side));
    can(delivery_to(c, s), side.open && !is_deaf(side) && (!side.frames.empty() || side.cut));
  }
}

bool RoutingHistory::is_settled() const {
  for (const Connection& connection : connections_)
    for (const Side& side : connection.sides) {
      if (!side.open || is_deaf(side)) continue;
      if (side.cut) return false;
      if (!side.is_end && gateways_[side.machine].router->has_changes(side.number)) return false;
      for (const auto& frame : side.frames) {
        auto kind = static_cast<FrameKind>(frame[offsetof(FrameHeader, kind)]);
        if (kind == FrameKind::kReach || kind == FrameKind::kLinks) return false;
      }
    }
  return true;
}

}  // namespace terrane::sim
