// Draws the jobs and the programs of their ends, and lets events happen.
#include "sim/routing/routing_history.h"

#include <algorithm>

namespace terrane::sim {

using routing::Address;

RoutingOutcome RoutingHistory::run(std::uint64_t seed, Trace* trace) {
  trace_ = trace;
  outcome_ = {};
  outcome_.violation = violation_of([&] {
    begin(seed);
    loop();
  });
  outcome_.steps = schedule_.picks();
  return outcome_;
}

// ---- What is drawn

void RoutingHistory::begin(std::uint64_t seed) {
  rng_ = base::Prng(seed);
  schedule_.begin(rng_, static_cast<Mood>(rng_.below(static_cast<std::uint32_t>(Mood::kCount))));
  window_ = routing::Outbound::kLeastWindow + 512 * rng_.below(3);
  settled_ = 0;
  ends_.clear();
  gateways_.clear();
  connections_.clear();
  events_.clear();
  draw_clusters();
  draw_programs();
  draw_events();
  for (std::uint32_t e = 0; e < ends_.size(); ++e) schedule_.ready(static_cast<ActorId>(e));
}

void RoutingHistory::draw_clusters() {
  std::uint32_t clusters = 2 + rng_.below(3);
  std::uint32_t shape = rng_.below(4);  // of the links: 0: some, 1: a line, else all
  for (std::uint32_t c = 0; c < clusters; ++c) {
    std::uint32_t first = static_cast<std::uint32_t>(gateways_.size());
    for (std::uint32_t g = 1 + rng_.below(2); g > 0; --g) {
      auto number = static_cast<std::uint32_t>(gateways_.size());
      gateways_.push_back({.cluster = c, .router = nullptr});
      gateways_.back().router = std::make_unique<routing::Router>(Address::of_gateway(number),
                                                                  routing::Router::Limits{window_});
      for (std::uint32_t other = 0; other < first; ++other) {
        bool linked = shape == 0   ? rng_.chance(60)
                      : shape == 1 ? gateways_[other].cluster + 1 == c
                                   : true;
        if (linked) connect_to({.machine = other}, {.machine = number});
      }
    }
    // In some clusters the ends are also connected with each other.
    bool direct = rng_.chance(30);
    auto first_end = static_cast<std::uint32_t>(ends_.size());
    std::uint32_t count = 1 + rng_.below(3);
    for (std::uint32_t number = first_end; number < first_end + count; ++number) {
      auto ways = static_cast<std::uint32_t>(gateways_.size()) - first;
      Address self = Address::of_node(number);
      ends_.push_back({.cluster = c,
                       .out = std::make_unique<routing::Outbound>(self, window_, ways + count),
                       .in = std::make_unique<routing::Inbound>(self, window_)});
      for (std::uint32_t w = 0; w < ways; ++w)
        connect_to({.is_end = true, .machine = number, .number = w}, {.machine = first + w});
      for (std::uint32_t other = first_end; direct && other < number; ++other)
        connect_to({.is_end = true, .machine = number, .number = ways + other - first_end},
                   {.is_end = true, .machine = other, .number = ways + number - first_end});
    }
  }
}

void RoutingHistory::connect_to(Side a, Side b) {
  auto number = static_cast<std::uint32_t>(connections_.size());
  for (Side* side : {&a, &b})
    if (!side->is_end) side->number = number;
  connections_.push_back({.sides = {std::move(a), std::move(b)}, .room = 1 + rng_.below(2048)});
  for (ActorId actor :
       {pump_of(number, 0), pump_of(number, 1), delivery_to(number, 0), delivery_to(number, 1)})
    if (rng_.chance(20)) schedule_.set_slow(actor);
  add_event(EventKind::kConnect, number, rng_.chance(80) ? 0 : rng_.below(200));
}

void RoutingHistory::draw_programs() {
  auto count = static_cast<std::uint32_t>(ends_.size());
  for (End& end : ends_) {
    end.pairs.resize(count);
    end.to_send = rng_.below(16);
    end.leaves = static_cast<Leaves>(rng_.below(3));
  }
}

void RoutingHistory::draw_events() {
  auto count = [&](std::size_t of) { return rng_.below(static_cast<std::uint32_t>(of)); };
  for (std::uint32_t n = rng_.below(3); n > 0; --n) {
    std::uint32_t end = count(ends_.size()), step = rng_.below(400);
    add_event(EventKind::kStall, end, step);
    std::uint32_t until = rng_.below(3);
    if (until < 2) add_event(EventKind::kRead, end, until ? kWhenQuiet : step + rng_.below(800));
  }
  if (rng_.chance(20)) add_event(EventKind::kEndDies, count(ends_.size()), rng_.below(600));
  if (rng_.chance(20)) return;
  for (std::uint32_t n = rng_.below(4); n > 0; --n) {
    std::uint32_t connection = count(connections_.size()), step = rng_.below(600);
    add_event(EventKind::kBreak, connection, step);
    if (rng_.chance(50)) add_event(EventKind::kConnect, connection, step + rng_.below(300));
  }
  for (std::uint32_t n = rng_.below(3); n > 0; --n) {
    std::uint32_t gateway = count(gateways_.size()), step = rng_.below(600);
    add_event(EventKind::kGatewayDies, gateway, step);
    if (rng_.chance(60)) continue;
    step += rng_.below(400);
    add_event(EventKind::kGatewayStarts, gateway, step);
    for (std::uint32_t c = 0; c < connections_.size(); ++c)
      for (const Side& side : connections_[c].sides)
        if (!side.is_end && side.machine == gateway)
          add_event(EventKind::kConnect, c, step + 1 + rng_.below(100));
  }
}

void RoutingHistory::add_event(EventKind kind, std::uint32_t which, std::uint64_t step) {
  events_.push_back({.kind = kind, .which = which, .step = step});
}

// ---- What happens

void RoutingHistory::loop() {
  for (;;) {
    if (schedule_.picks() > kMaxSteps)
      violated(Fault::kEndless, "more than {} steps: frames go round in circles", kMaxSteps);
    for (Event& event : events_)
      if (!event.done && event.step <= schedule_.picks()) event.done = happens(event);
    if (schedule_.empty()) {
      if (!happens_when_quiet()) return;
      continue;
    }
    tick_at_random();
    ActorId actor = schedule_.pick();
    if (actor < kMaxEnds) {
      send(actor);
      continue;
    }
    std::uint32_t at = actor - kMaxEnds;
    if (at % 4 < 2) {
      pump(at / 4, at % 2);
    } else {
      deliver(at / 4, at % 2);
    }
  }
}

// No actor can act: lets the next event happen. False if no event is left.
bool RoutingHistory::happens_when_quiet() {
  auto next = [&](bool last) {
    Event* found = nullptr;
    for (Event& event : events_)
      if (!event.done && (event.step == kWhenQuiet) == last &&
          (found == nullptr || event.step < found->step))
        found = &event;
    if (found == nullptr) return false;
    found->done = true;
    happens(*found);
    return true;
  };
  if (next(false)) return true;
  for (int n = 0; n < 2; ++n) {
    ++settled_;
    for (std::uint32_t e = 0; e < ends_.size(); ++e) tick(e);
  }
  if (!schedule_.empty()) return true;
  check_quiet();
  return next(true);
}

// False if the event cannot happen yet.
bool RoutingHistory::happens(const Event& event) {
  switch (event.kind) {
    case EventKind::kConnect:
      return connect(event.which);
    case EventKind::kBreak:
      break_off(event.which, true);
      return true;
    case EventKind::kGatewayDies:
      kill_gateway(event.which);
      return true;
    case EventKind::kGatewayStarts:
      start_gateway(event.which);
      return true;
    case EventKind::kEndDies:
      if (!ends_[event.which].alive || ends_[event.which].left) return true;
      if (trace_) trace_->add(schedule_.picks(), "end {}: dies", event.which);
      ends_[event.which].alive = false;
      stop(event.which, true);
      return true;
    case EventKind::kStall:
    case EventKind::kRead:
      if (trace_)
        trace_->add(schedule_.picks(), "end {}: {}", event.which,
                    event.kind == EventKind::kStall ? "stops to read" : "reads again");
      ends_[event.which].stalled = event.kind == EventKind::kStall;
      // The frames that it reads first are old, so it must not declare ends lost by them.
      ends_[event.which].settled_ticks = settled_ + 1;
      refresh({.is_end = true, .machine = event.which});
      return true;
  }
  return true;
}

// ---- What ends do

void RoutingHistory::send(std::uint32_t e) {
  End& end = ends_[e];
  schedule_.park(static_cast<ActorId>(e));
  if (!end.alive || end.left) return;
  if (end.to_send == 0) {
    if (end.leaves != Leaves::kNever) bye(e);
  } else {
    --end.to_send;
    std::uint32_t to = rng_.below(static_cast<std::uint32_t>(ends_.size()));
    if (to == e) to = (to + 1) % static_cast<std::uint32_t>(ends_.size());
    std::uint32_t kind = rng_.below(20);
    auto most = static_cast<std::uint32_t>(kind < 12 ? 100 : kind < 17 ? window_ : 4 * window_);
    Message message{.tag = static_cast<std::uint16_t>(rng_.below(5)),
                    .bytes = kind < 4 ? 0 : rng_.below(most)};
    Pair& pair = end.pairs[to];
    std::vector<std::byte> bytes(message.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte{byte_of(e, to, pair.sent.size(), i)};
    std::size_t head = message.bytes ? rng_.below(message.bytes + 1) : 0;
    if (trace_)
      trace_->add(schedule_.picks(), "end {}: sends message {} to end {}, {} bytes", e,
                  pair.sent.size(), to, message.bytes);
    pair.sent.push_back(message);
    routing::Bytes all(bytes);
    end.out->send(Address::of_node(to), message.tag, all.first(head), all.subspan(head));
    schedule_.ready(static_cast<ActorId>(e));
  }
  refresh({.is_end = true, .machine = e});
}

void RoutingHistory::bye(std::uint32_t e) {
  End& end = ends_[e];
  if (trace_) trace_->add(schedule_.picks(), "end {}: says bye", e);
  for (std::uint32_t to = 0; to < ends_.size(); ++to) {
    if (to == e) continue;
    end.pairs[to].said_bye = true;
    end.out->bye(Address::of_node(to));
  }
  may_leave(e);
}

bool RoutingHistory::has_heard_all(std::uint32_t e) const {
  const End& end = ends_[e];
  for (std::uint32_t other = 0; other < ends_.size(); ++other)
    if (other != e && ends_[other].leaves != Leaves::kNever && !end.pairs[other].has_bye &&
        !end.out->is_lost(Address::of_node(other)))
      return false;
  return true;
}

void RoutingHistory::may_leave(std::uint32_t e) {
  End& end = ends_[e];
  std::uint32_t other = e == 0 ? 1 : 0;
  if (!end.alive || end.left || !end.pairs[other].said_bye || !end.out->is_idle()) return;
  for (const Connection& connection : connections_)
    for (const Side& side : connection.sides)
      if (side.is_end && side.machine == e && side.open && has_output(side)) return;
  if (end.leaves == Leaves::kWithTheOthers && !has_heard_all(e)) return;
  if (trace_) trace_->add(schedule_.picks(), "end {}: leaves", e);
  end.left = true;
  stop(e, false);
}

void RoutingHistory::stop(std::uint32_t e, bool loses) {
  for (std::uint32_t c = 0; c < connections_.size(); ++c)
    for (Side& side : connections_[c].sides) {
      if (!side.is_end || side.machine != e) continue;
      break_off(c, loses);
      end_side(side);
      refresh(c);
    }
}

// An end may tick at any time, but between two of its ticks the gateways have reported all changes.
void RoutingHistory::tick_at_random() {
  if (rng_.below(32) != 0) return;
  std::uint32_t e = rng_.below(static_cast<std::uint32_t>(ends_.size()));
  if (rng_.chance(50) && is_settled()) ++settled_;
  if (settled_ > ends_[e].settled_ticks) tick(e);
}

void RoutingHistory::tick(std::uint32_t e) {
  End& end = ends_[e];
  if (!end.alive || end.left || end.stalled) return;
  end.out->tick();
  check_lost(e);
  end.settled_ticks = settled_;
  may_leave(e);
  refresh({.is_end = true, .machine = e});
}

}  // namespace terrane::sim
