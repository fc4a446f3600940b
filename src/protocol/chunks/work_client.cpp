// The client of a node for work streams: names, homes, and what writers and subscribers have in
// common.
#include "protocol/chunks/work_client.h"

#include <algorithm>

#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

const WorkClient::Stream* WorkClient::stream(ChunkId chunk) const {
  auto at = streams_.find(chunk.value);
  return at == streams_.end() ? nullptr : &at->second;
}

WorkClient::Stream* WorkClient::find(ChunkId chunk) {
  auto at = streams_.find(chunk.value);
  return at == streams_.end() ? nullptr : &at->second;
}

void WorkClient::learn(ChunkId id, const std::string& name, std::uint64_t bytes,
                       const WorkShape& shape, NodeId home) {
  auto [at, fresh] = streams_.try_emplace(id.value);
  Stream& stream = at->second;
  if (fresh) {
    stream.name = name;
    stream.bytes = bytes;
    stream.shape = shape;
  }
  if (stream.home == kNoNode && home != kNoNode) {
    stream.home = home;
    go_on(id, stream);
  }
  if (home != kNoNode && !view_.has(home)) lose(id, stream);
}

bool WorkClient::received(NodeId from, const ChunkMessage& message, Bytes tail) {
  ChunkId id{message.chunk};
  Stream* stream = find(id);
  if (stream == nullptr) return false;
  if (message.kind == ChunkKind::kPlaced) return placed(message);
  if (stream->home != from) return false;
  if (stream->gone) return true;
  switch (message.kind) {
    case ChunkKind::kWorkSettled:
      return settled(id, *stream, message, tail);
    case ChunkKind::kWorkSubscribed:
      return subscribed(id, *stream, message);
    case ChunkKind::kWorkGive:
      return given(from, id, *stream, message, tail);
    case ChunkKind::kWorkTakers:
      stream->no_taker = NodeId{static_cast<std::uint32_t>(message.version)};
      if (message.turn > 0) stream->no_taker = kNoNode;
      pump_writers(id, *stream);
      return true;
    case ChunkKind::kWorkStop:
      mark(WorkMark::kStoppedByEnd);
      stream->stopped = true;
      outbox_.send(from, {.kind = ChunkKind::kWorkStopped, .chunk = id.value});
      pump_writers(id, *stream);
      return true;
    case ChunkKind::kWorkEnding:
      stream->stopped = true;
      for (WaiterId ender : stream->enders) outbox_.resume(ender, Status::kOk, id);
      stream->enders.clear();
      pump_writers(id, *stream);
      return true;
    case ChunkKind::kWorkLeft:
      stream->leaves = false;
      return true;
    case ChunkKind::kWorkDrained:
      stream->drained = true;
      stream->stopped = true;
      end_takers(id, *stream, Status::kEnded);
      outbox_.notify(id, 0);
      return true;
    default:
      return false;
  }
}

// ---- Where the home is

// here: this node becomes the home if the stream has none yet.
void WorkClient::seek_home(ChunkId id, Stream& stream, bool here) {
  if (stream.asks && !here) return;
  if (!stream.asks) mark(WorkMark::kPlacementAwaited);
  stream.asks = true;
  ChunkMessage message{.kind = ChunkKind::kPlace, .chunk = id.value};
  if (here) message.flags = wire::kPlaceFlag;
  outbox_.send(home_of(id, view_), message);
}

bool WorkClient::placed(const ChunkMessage& message) {
  ChunkId id{message.chunk};
  Stream* stream = find(id);
  if (stream == nullptr || stream->gone) return true;
  if (flag(message, wire::kUnknownFlag)) {
    lose(id, *stream);
    return true;
  }
  if (stream->home != kNoNode) return true;
  stream->home = NodeId{message.turn};
  if (!view_.has(stream->home)) {
    lose(id, *stream);
  } else {
    go_on(id, *stream);
  }
  return true;
}

// Sends what waited for the home to be known.
void WorkClient::go_on(ChunkId id, Stream& stream) {
  stream.asks = false;
  if (stream.subscriber) send_subscription(id, stream);
  if (!stream.enders.empty()) send_end(id, stream);
  pump_writers(id, stream);
}

void WorkClient::send_shape(ChunkId id, const Stream& stream, ChunkMessage message) {
  message.chunk = id.value;
  message.mode = stream.shape.in_order ? 1 : 0;
  message.bytes = stream.bytes;
  message.seen = stream.shape.capacity;
  outbox_.send(stream.home, message, std::as_bytes(std::span(stream.name)));
}

// ---- The end

void WorkClient::end(const WorkEnd& event) {
  Stream* stream = find(event.chunk);
  if (stream == nullptr || stream->gone) {
    outbox_.resume(event.waiter, Status::kUnknown, event.chunk);
    return;
  }
  stream->enders.push_back(event.waiter);
  if (stream->home == kNoNode) return seek_home(event.chunk, *stream, true);
  if (stream->enders.size() == 1) send_end(event.chunk, *stream);
}

void WorkClient::send_end(ChunkId id, const Stream& stream) {
  send_shape(id, stream, {.kind = ChunkKind::kWorkEnd});
}

// ---- Nodes that have died or left

void WorkClient::view_changed(const std::vector<std::uint32_t>& moved) {
  for (auto& [id, stream] : streams_) {
    if (stream.gone) continue;
    if (stream.home != kNoNode && !view_.has(stream.home)) lose(ChunkId{id}, stream);
    bool name_moved = std::find(moved.begin(), moved.end(), id >> 52) != moved.end();
    if (stream.home != kNoNode || !name_moved || !stream.asks) continue;
    mark(WorkMark::kNameHomeDied);
    stream.asks = false;
    seek_home(ChunkId{id}, stream, stream.subscriber || !stream.enders.empty());
  }
}

// The versions that were put at the home, and are not done, died with it. This node cannot restore
// them.
void WorkClient::lose(ChunkId id, Stream& stream) {
  mark(WorkMark::kHomeDied);
  stream.gone = true;
  std::map<std::uint32_t, std::vector<Stream::Source>> put;
  put.swap(stream.put);
  refuse_writers(id, stream, Status::kUnknown);
  end_takers(id, stream, Status::kUnknown);
  for (WaiterId ender : stream.enders) outbox_.resume(ender, Status::kUnknown, id);
  stream.enders.clear();
  if (stream.subscriber) outbox_.resume(*stream.subscriber, Status::kUnknown, id);
  stream.subscriber.reset();
  stream.subscribed = false;
  stream.done.clear();
  std::erase_if(stream.taken, [&](const Stream::Taken& taken) {
    if (taken.use == Stream::Use::kOpen) return false;
    if (taken.use == Stream::Use::kFresh) outbox_.discard(id, taken.place);
    return true;
  });
  shrink(id, stream);
  outbox_.notify(id, 0);
  outbox_.notify_writable(id);
  for (const auto& [number, sources] : put) {
    if (!sources.empty()) mark(WorkMark::kHomeDiedWithResults);
    forget_put(sources);
  }
}

void WorkClient::leave() {
  for (auto& [id, stream] : streams_)
    if (stream.subscribed) unsubscribe(ChunkId{id});
  for (auto& [id, stream] : streams_) {
    stream.leaves = !stream.gone && stream.home != kNoNode;
    if (stream.leaves) outbox_.send(stream.home, {.kind = ChunkKind::kWorkLeave, .chunk = id});
  }
}

bool WorkClient::may_leave() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const auto& one) {
    const Stream& stream = one.second;
    return stream.gone || (!stream.leaves && stream.taken.empty());
  });
}

// ---- Time

std::uint64_t WorkClient::next_deadline_ns() const {
  std::uint64_t next = kNever;
  for (const auto& [id, stream] : streams_)
    for (const auto* waiters : {&stream.writers, &stream.takers})
      for (const Stream::Waiter& one : *waiters) next = std::min(next, one.deadline_ns);
  return next;
}

void WorkClient::elapsed(std::uint64_t now_ns) {
  for (auto& [id, stream] : streams_)
    for (auto* waiters : {&stream.writers, &stream.takers})
      std::erase_if(*waiters, [&, chunk = ChunkId{id}](const Stream::Waiter& one) {
        if (one.deadline_ns > now_ns) return false;
        mark(waiters == &stream.writers ? WorkMark::kWriteTimedOut : WorkMark::kTakeTimedOut);
        outbox_.resume(one.waiter, Status::kTimedOut, chunk);
        return true;
      });
}

// ---- Memory

Place WorkClient::free_place(ChunkId id, const Stream& stream) const {
  Place place{0};
  auto taken = [&] {
    return outbox_.leaving(id, place) ||
           std::find(stream.writing.begin(), stream.writing.end(), place) != stream.writing.end() ||
           std::any_of(stream.taken.begin(), stream.taken.end(), [&](const Stream::Taken& one) {
             return one.use != Stream::Use::kClosed && one.place == place;
           });
  };
  while (taken()) ++place.value;
  return place;
}

void WorkClient::memory_freed() {
  std::vector<std::uint64_t> now;
  now.swap(starved_);
  for (std::uint64_t id : now) pump_writers(ChunkId{id}, streams_[id]);
}

void WorkClient::check_invariants() const {
  for (const auto& [id, stream] : streams_) {
    std::uint64_t held = 0;
    for (const Stream::Taken& taken : stream.taken)
      if (taken.subscription == stream.number && !taken.released)
        held += work_cost(taken.what.bytes, stream.bytes);
    TERRANE_CHECK(!stream.subscribed || held + stream.done_bytes <= stream.window,
                  "no more versions are here than there is credit for");
  }
}

void WorkClient::report(ChunkId id) const {
  const Stream* known = stream(id);
  if (known == nullptr || known->gone) return;
  ChunkMessage report{.kind = ChunkKind::kReport, .chunk = id.value, .bytes = known->bytes};
  report.coherence = static_cast<std::uint8_t>(Coherence::kWork);
  put_shape(report, known->shape);
  report.seen = known->home.value;
  outbox_.send(home_of(id, view_), report, std::as_bytes(std::span(known->name)));
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
