#include "protocol/chunks/mesi_chunk.h"

#include "base/overloaded.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

bool to_server(const ChunkMessage& message) {
  switch (message.kind) {
    case ChunkKind::kCredit:
      return flag(message, wire::kSubscriberFlag);
    case ChunkKind::kSubscribe:
    case ChunkKind::kUnsubscribe:
    case ChunkKind::kPublish:
    case ChunkKind::kFind:
    case ChunkKind::kRequest:
    case ChunkKind::kCancel:
    case ChunkKind::kYielded:
    case ChunkKind::kEvict:
    case ChunkKind::kReport:
    case ChunkKind::kReportEnd:
    case ChunkKind::kHint:
    case ChunkKind::kLeave:
    case ChunkKind::kNamed:
    case ChunkKind::kPlace:
      return true;
    default:
      return false;
  }
}

// Whether the message is for the home of a work stream, which can be any node.
bool to_work_home(ChunkKind kind) {
  return (kind >= ChunkKind::kWorkWriter && kind <= ChunkKind::kWorkStopped) ||
         kind == ChunkKind::kWorkLeave;
}
bool from_work_home(ChunkKind kind) {
  return (kind >= ChunkKind::kWorkSubscribed && kind <= ChunkKind::kWorkDrained) ||
         kind == ChunkKind::kWorkLeft;
}

}  // namespace

MesiChunk::MesiChunk(const MesiConfig& config)
    : config_(config), outbox_(config.self), cache_(config.budget_bytes, view_, outbox_) {
  outbox_.set_clusters(config.clusters);
}

void MesiChunk::step(const Event& event, Effects& out) {
  outbox_.open(out);
  spent_.clear();
  relays_.forget();
  home_.forget_served();
  std::visit(base::Overloaded{
                 [&](const Create& e) { cache_.questions().create(e); },
                 [&](const Find& e) { cache_.questions().find(e); },
                 [&](const Open& e) { cache_.open(e); },
                 [&](const Close& e) { cache_.close(e); },
                 [&](const Subscribe& e) { cache_.pushed().subscribe(e); },
                 [&](const Unsubscribe& e) { cache_.unsubscribe(e.chunk); },
                 [&](const Take& e) { cache_.pushed().take(e); },
                 [&](const Hint& e) { cache_.hint(e); },
                 [&](const Drop& e) { cache_.drop(e.chunk); },
                 [&](const Leave& e) {
                   home_.leave();
                   cache_.leave(e.waiter);
                 },
                 [&](const ViewChanged& e) { change_view(*e.view); },
                 [&](const Elapsed& e) { cache_.elapsed(e.now_ns); },
                 [&](const Received& e) { received_here(e, out); },
                 [&](const WorkWrite& e) { cache_.work().write(e); },
                 [&](const WorkPublish& e) { cache_.work().publish(e); },
                 [&](const WorkSubscribe& e) { cache_.work().subscribe(e); },
                 [&](const WorkUnsubscribe& e) { cache_.work().unsubscribe(e.chunk); },
                 [&](const WorkTake& e) { cache_.work().take(e); },
                 [&](const WorkRelease& e) { cache_.work().release(e); },
                 [&](const WorkEnd& e) { cache_.work().end(e); },
             },
             event);
  handle_own();
  cache_.go_on_leaving();
  handle_own();
  outbox_.finish();
  relays_.send(out);
}

void MesiChunk::received_here(const Received& event, Effects& out) {
  if (!relays_.concerns(event.from)) return received(event.from, event.message, event.data);
  auto handle = [this](NodeId from, Bytes message, Bytes data) {
    received(from, message, data);
    handle_own();
  };
  if (!relays_.received(event.from, event.message, event.data, out, handle))
    outbox_.malformed(event.from);
}

// A message from a view that this node does not have yet waits for that view. Later messages of its
// sender wait behind it.
void MesiChunk::received(NodeId from, Bytes bytes, Bytes data) {
  ChunkMessage message;
  Bytes head = bytes;
  if (!wire::take(head, message)) return outbox_.malformed(from);
  auto at = stashed_.find(from.value);
  if (at == stashed_.end() && message.epoch <= view_.epoch) return handle(from, bytes, data);
  mark(Mark::kMessageWaitsForView);
  if (mutant(Mutant::kNewcomerUnheard) && !view_.has(from)) return;
  std::deque<std::vector<std::byte>>& waiting = stashed_[from.value];
  if (waiting.size() >= kMaxStashed) return outbox_.malformed(from);
  waiting.emplace_back(bytes.begin(), bytes.end());
  waiting.back().insert(waiting.back().end(), data.begin(), data.end());
}

void MesiChunk::handle(NodeId from, Bytes bytes, Bytes data) {
  ChunkMessage message;
  wire::take(bytes, message);
  if (!data.empty()) {
    if (!bytes.empty()) return outbox_.malformed(from);
    bytes = data;
  }
  std::uint32_t slot = slot_of(message);
  bool known = slot < view_.slots.size();
  if (!view_.has(from)) {
    mark(Mark::kMessageOfTheDead);
    if (!mutant(Mutant::kDeadStillHeard)) return;
  }
  bool good = false;
  if (to_work_home(message.kind)) {
    good = work_home_.received(from, message, bytes);
  } else if (from_work_home(message.kind)) {
    good = cache_.work().received(from, message, bytes);
  } else if (known && message.epoch < view_.slots[slot].since) {
    // The message was for the former home, which is dead: no node asks a new home before it knows
    // the view.
  } else if (to_server(message)) {
    good = known && view_.slots[slot].home == config_.self && home_.received(from, message, bytes);
  } else if (message.kind == ChunkKind::kPlaced) {
    good = cache_.work().received(from, message, bytes);
  } else if (message.kind == ChunkKind::kFound) {
    good = cache_.received(from, message, bytes);
  } else {
    good = known && view_.slots[slot].home == from && cache_.received(from, message, bytes);
  }
  if (!good) outbox_.malformed(from);
}

void MesiChunk::change_view(const View& view) {
  if (view.epoch <= view_.epoch) return;
  std::uint32_t before = view_.epoch;
  view_ = view;
  outbox_.set_epoch(view_.epoch);
  home_.view_changed(before);
  work_home_.view_changed();
  cache_.view_changed(before);
  handle_own();
  for (auto at = stashed_.begin(); at != stashed_.end();) {
    std::deque<std::vector<std::byte>>& waiting = at->second;
    while (!waiting.empty()) {
      ChunkMessage message;
      Bytes bytes = waiting.front();
      wire::take(bytes, message);
      if (message.epoch > view_.epoch) break;
      spent_.push_back(std::move(waiting.front()));
      waiting.pop_front();
      handle(NodeId{at->first}, spent_.back());
      handle_own();
    }
    at = waiting.empty() ? stashed_.erase(at) : std::next(at);
  }
}

void MesiChunk::handle_own() {
  while (!outbox_.own.empty()) {
    ChunkOutbox::Own own = std::move(outbox_.own.front());
    outbox_.own.pop_front();
    outbox_.own_place = own.place;
    handle(config_.self, own.message);
  }
}

void MesiChunk::check_invariants() const {
  home_.check_invariants();
  work_home_.check_invariants();
  cache_.check_invariants();
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
