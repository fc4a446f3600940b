// The nodes of a simulated pipeline: their machines, memory, messages, deaths.
#include "sim/work/work_history.h"

#include <algorithm>
#include <cstring>

#include "base/overloaded.h"

namespace terrane::sim {

WorkOutcome WorkHistory::run(std::uint32_t nodes, std::uint64_t seed, bool careful, Trace* trace) {
  careful_ = careful;
  trace_ = trace;
  outcome_ = {};
  outcome_.violation = violation_of([&] {
    begin(nodes, seed);
    loop();
    finish_check();
  });
  outcome_.steps = schedule_.picks();
  return outcome_;
}

void WorkHistory::begin(std::uint32_t nodes, std::uint64_t seed) {
  rng_ = base::Prng(seed);
  nodes_count_ = nodes ? std::min(nodes, kMaxWorkNodes) : 4 + rng_.below(3);
  servers_ = 1 + rng_.below(2);
  network_.begin(nodes_count_);
  schedule_.begin(rng_, static_cast<Mood>(rng_.below(static_cast<std::uint32_t>(Mood::kCount))));
  source_node_ = rng_.below(nodes_count_);
  sink_node_ = rng_.below(nodes_count_);
  putting_ = 1 + rng_.below(2);
  capacity_ = 1 + rng_.below(6);
  credit_ = 1 + rng_.below(4);
  auto home = [&](std::uint32_t natural) {
    std::uint32_t what = rng_.below(4);
    return what == 0   ? chunks::kHomeByName
           : what == 1 ? chunks::kHomeAtFirst
           : what == 2 ? natural
                       : sink_node_;
  };
  shapes_[kFrames] = {.capacity = 8 * kWords * capacity_, .home = home(source_node_)};
  shapes_[kResults] = {.capacity = 8 * kWords * capacity_ * putting_,
                       .in_order = rng_.chance(70),
                       .home = home(sink_node_)};
  views_.assign(1, {.epoch = 1});
  std::uint32_t slots = servers_ + rng_.below(3);
  for (std::uint32_t s = 0; s < slots; ++s)
    views_[0].slots.push_back({.home = NodeId{s % servers_}});
  next_tag_ = 0;
  put_.clear();
  held_.clear();
  shown_.clear();
  taken_results_ = 0;
  given_up_ = lost_ = false;
  early_ = !shapes_[kResults].in_order && rng_.chance(30);
  ids_[0] = ids_[1] = chunks::kNoChunk;
  std::memset(subscribed_, 0, sizeof subscribed_);
  draw_threads();
  draw_changes();
  nodes_.clear();
  nodes_.resize(nodes_count_);
  for (std::uint32_t n = 0; n < nodes_count_; ++n) {
    nodes_[n].machine = std::make_unique<chunks::MesiChunk>(
        chunks::MesiConfig{.self = NodeId{n}, .budget_bytes = 1 << 16});
    for (const Change& join : joins_)
      if (join.node == n) nodes_[n].alive = false;
    if (nodes_[n].alive) views_[0].members.push_back(NodeId{n});
  }
  for (std::uint32_t n = 0; n < nodes_count_; ++n)
    if (nodes_[n].alive) tell(n);
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (nodes_[threads_[t].node].alive) schedule_.ready(static_cast<ActorId>(t));
}

void WorkHistory::draw_threads() {
  threads_.clear();
  for (std::uint32_t s = 0; s < putting_; ++s)
    threads_.push_back({.node = source_node_, .role = Role::kSource, .quota = rng_.below(10)});
  threads_.push_back({.node = rng_.below(nodes_count_), .role = Role::kEnder});
  threads_.push_back({.node = sink_node_, .role = Role::kSink});
  std::uint32_t steady = rng_.below(nodes_count_);
  for (std::uint32_t n = 0; n < nodes_count_; ++n) {
    if (n != steady && rng_.chance(40)) continue;
    std::uint32_t quota = n != steady && rng_.chance(25) ? 1 + rng_.below(3) : 0;
    for (std::uint32_t t = quota ? 1 : 1 + rng_.below(2); t > 0; --t)
      threads_.push_back({.node = n, .role = Role::kWorker, .quota = quota});
  }
}

// The source, the sink, the ender and the homes of the streams do not die, except in wild
// histories.
void WorkHistory::draw_changes() {
  deaths_.clear();
  joins_.clear();
  if (rng_.chance(25)) return;
  bool wild = rng_.chance(15);
  for (std::uint32_t n = 1; n < nodes_count_; ++n) {
    bool needed = n == source_node_ || n == sink_node_ || shapes_[kFrames].home == n;
    for (const chunks::WorkShape& shape : shapes_)
      needed |= shape.home == chunks::kHomeByName && n < servers_;
    for (const Thread& thread : threads_) needed |= thread.role == Role::kEnder && thread.node == n;
    // The node that subscribes first becomes the home, so no node may die.
    needed |= shapes_[kFrames].home == chunks::kHomeAtFirst;
    if (rng_.chance(!needed || wild ? 45 : 0)) {
      deaths_.push_back({n, rng_.below(500)});
    } else if (n >= servers_ && !needed && rng_.chance(20)) {
      joins_.push_back({n, rng_.below(200)});
    }
  }
}

void WorkHistory::loop() {
  for (;;) {
    if (schedule_.picks() > kMaxSteps)
      violated(Fault::kEndless, "more than {} steps: somebody goes round in circles", kMaxSteps);
    changes();
    if (schedule_.empty()) return;
    ActorId id = schedule_.pick();
    if (id >= kFirstChannel) {
      deliver(static_cast<std::uint32_t>(id - kFirstChannel));
    } else if (id >= kFirstNews) {
      tell(static_cast<std::uint32_t>(id - kFirstNews));
    } else if (id >= kFirstClock) {
      Node& node = nodes_[id - kFirstClock];
      node.now_ns = std::max(node.now_ns, node.machine->next_deadline_ns());
      step(static_cast<std::uint32_t>(id - kFirstClock), chunks::Elapsed{node.now_ns});
    } else {
      act(id);
    }
  }
}

void WorkHistory::changes() {
  for (Change& death : deaths_)
    if (!death.done && (schedule_.picks() >= death.step || schedule_.empty())) {
      death.done = true;
      kill(death.node);
    }
  for (Change& join : joins_)
    if (!join.done && (schedule_.picks() >= join.step || schedule_.empty())) {
      join.done = true;
      nodes_[join.node].alive = true;
      publish_view();
      tell(join.node);
      for (std::uint32_t t = 0; t < threads_.size(); ++t)
        if (threads_[t].node == join.node) schedule_.ready(static_cast<ActorId>(t));
    }
}

// Its messages under way to a node all arrive, or none.
void WorkHistory::kill(std::uint32_t n) {
  if (trace_) trace_->add(schedule_.picks(), "node {}: dies", n);
  ++outcome_.deaths;
  lost_ |= n == source_node_ || n == sink_node_;
  for (std::uint32_t s : {kFrames, kResults}) {
    lost_ |= shapes_[s].home == n;
    // Its answer to a creator may still be under way.
    std::uint32_t slot = chunks::slot_of(s == kFrames ? "frames" : "results", views_.back());
    lost_ |= shapes_[s].home == chunks::kHomeByName && views_.back().slots[slot].home == NodeId{n};
    // It has asked to be the home, and the home of the name may hear of that before any other node
    // asks.
    const auto* own = nodes_[n].machine->cache().work().stream(ids_[s]);
    lost_ |= own != nullptr && own->asks;
    for (const Node& node : nodes_) {
      const auto* stream = node.machine->cache().work().stream(ids_[s]);
      const auto* entry = node.machine->home().entry(ids_[s]);
      lost_ |= stream != nullptr && stream->home == NodeId{n};
      lost_ |= entry != nullptr && entry->work.home == NodeId{n};
    }
  }
  nodes_[n].alive = false;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].node != n) continue;
    schedule_.park(static_cast<ActorId>(t));
    bool puts = threads_[t].role == Role::kSource && threads_[t].doing != Doing::kOver;
    threads_[t].doing = Doing::kOver;
    if (puts) source_over();
    if (threads_[t].role == Role::kWorker)
      for (const Open& open : threads_[t].open) held_.erase(open.tag);
  }
  schedule_.park(static_cast<ActorId>(kFirstClock + n));
  schedule_.park(static_cast<ActorId>(kFirstNews + n));
  for (std::uint32_t m = 0; m < nodes_count_; ++m) {
    std::uint32_t channel = network_.channel(n, m);
    if (!rng_.chance(50)) continue;
    while (!network_.empty(channel)) network_.pop(channel);
    schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  }
  publish_view();
}

void WorkHistory::publish_view() {
  chunks::View view = views_.back();
  ++view.epoch;
  view.members.clear();
  for (std::uint32_t n = 0; n < nodes_count_; ++n)
    if (nodes_[n].alive) view.members.push_back(NodeId{n});
  for (chunks::View::Slot& slot : view.slots) {
    if (nodes_[slot.home.value].alive) continue;
    while (!nodes_[slot.home.value].alive) slot.home = NodeId{(slot.home.value + 1) % servers_};
    slot.since = view.epoch;
  }
  views_.push_back(view);
  for (std::uint32_t n = 0; n < nodes_count_; ++n)
    if (nodes_[n].alive && nodes_[n].views > 0)
      schedule_.ready(static_cast<ActorId>(kFirstNews + n));
}

void WorkHistory::tell(std::uint32_t n) {
  std::size_t& views = nodes_[n].views;
  views = views == 0 || rng_.chance(30) ? views_.size() : views + 1;
  if (trace_) trace_->add(schedule_.picks(), "node {}: is told of view {}", n, views);
  step(n, chunks::ViewChanged{&views_[views - 1]});
  if (views == views_.size()) schedule_.park(static_cast<ActorId>(kFirstNews + n));
}

void WorkHistory::deliver(std::uint32_t channel) {
  std::uint32_t from = network_.from(channel), to = network_.to(channel);
  protocol::Bytes front = network_.front(channel);
  std::vector<std::byte> message(front.begin(), front.end());
  network_.pop(channel);
  if (network_.empty(channel)) schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  if (!nodes_[to].alive) return;
  ++outcome_.messages;
  if (trace_)
    trace_->add(schedule_.picks(), "node {}: receives kind {} of node {}, {} bytes", to,
                static_cast<int>(message[0]), from, message.size());
  note((channel + 0x100u) << 8 | static_cast<std::uint32_t>(message[0]));
  step(to, chunks::Received{NodeId{from}, message});
}

// ---- What a node's runtime does for its machine

void WorkHistory::step(std::uint32_t n, const chunks::Event& event) {
  chunks::Effects effects;
  nodes_[n].machine->step(event, effects);
  for (const auto& effect : effects.list) {
    std::visit(
        base::Overloaded{
            [&](const chunks::Send& e) {
              auto head = std::span(effects.bytes).subspan(e.offset, e.size);
              std::uint64_t data =
                  e.with_data ? std::min<std::uint64_t>(e.data_bytes, 8 * kWords) : 0;
              std::vector<std::byte> bytes(head.size() + data);
              std::copy(head.begin(), head.end(), bytes.begin());
              if (data > 0)
                std::memcpy(bytes.data() + head.size(), memory(n, e.chunk, e.place).data(), data);
              std::uint32_t channel = network_.channel(n, e.to.value);
              network_.push(channel, bytes);
              schedule_.ready(static_cast<ActorId>(kFirstChannel + channel));
            },
            [&](const chunks::Forward&) {},  // of pushed chunks
            [&](const chunks::Resume& e) { resume(n, e); },
            [&](const chunks::Install& e) {
              std::memcpy(memory(n, e.chunk, e.place).data(), e.bytes.data(),
                          std::min<std::size_t>(e.bytes.size(), 8 * kWords));
            },
            [&](const chunks::CopyBytes& e) {
              memory(n, e.chunk, e.to) = memory(n, e.chunk, e.from);
            },
            [&](const chunks::Discard& e) {
              check_discarded(n, e);
              memory(n, e.chunk, e.place).fill(0xdead);
            },
            [&](const chunks::Malformed& e) {
              violated(Fault::kMalformed, "node {} refuses a message of node {}", n, e.from.value);
            },
            [](const auto&) {}},
        effect);
  }
  if (careful_) nodes_[n].machine->check_invariants();
  auto clock = static_cast<ActorId>(kFirstClock + n);
  if (nodes_[n].machine->next_deadline_ns() == chunks::kNever) {
    schedule_.park(clock);
  } else {
    schedule_.ready(clock);
  }
}

std::array<std::uint64_t, WorkHistory::kWords>& WorkHistory::memory(std::uint32_t node,
                                                                    chunks::ChunkId chunk,
                                                                    chunks::Place place) {
  std::uint32_t at = place.value >= chunks::kHomePlaces
                         ? place.value - chunks::kHomePlaces + kPlaces / 2
                         : place.value;
  if (at >= kPlaces) violated(Fault::kBadStep, "node {} uses place {}", node, place.value);
  return nodes_[node].memory[chunk.value][at];
}

}  // namespace terrane::sim
