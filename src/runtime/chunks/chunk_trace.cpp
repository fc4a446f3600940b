#include "runtime/chunks/chunk_trace.h"

#include <algorithm>

#include "base/overloaded.h"

namespace terrane::runtime::chunks {

namespace machine = protocol::chunks;
using trace::Event;
using trace::EventLog;

namespace {

// Of a pushed chunk: exclusive is the right to write; shared, that a version is here.
machine::State state_of(const machine::ChunkCache::Copy& copy) {
  if (!copy.pushed() || copy.state != machine::State::kInvalid) return copy.state;
  return copy.held.empty() ? machine::State::kInvalid : machine::State::kShared;
}

std::uint32_t low_half(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

template <typename Enum>
std::uint8_t byte_of(Enum value) {
  return static_cast<std::uint8_t>(value);
}

}  // namespace

// The chunk's name comes in front of its first state.
void ChunkTrace::look(ChunkId chunk, const machine::ChunkCache& cache) {
  auto at = known_.find(chunk.value);
  if (at == known_.end()) {
    const machine::ChunkCache::Copy* copy = cache.copy(chunk);
    if (copy == nullptr) return;
    at = known_.try_emplace(chunk.value, Known{copy, machine::State::kInvalid}).first;
    log_.note_text(Event::kObjectName,
                   {.object = chunk.value, .value = copy->bytes, .kind = byte_of(copy->coherence)},
                   copy->name);
  }
  compare(chunk.value, at->second);
}

void ChunkTrace::compare(std::uint64_t chunk, Known& known) {
  machine::State now = state_of(*known.copy);
  if (known.state == now) return;
  known.state = now;
  log_.note(Event::kState, {.object = chunk, .kind = byte_of(now)});
}

// No state changes without an effect on the chunk, but by what a message or the view says.
void ChunkTrace::stepped(const machine::Event& event, const machine::Effects& effects,
                         const machine::ChunkCache& cache) {
  if (std::holds_alternative<machine::ViewChanged>(event))
    for (auto& [chunk, known] : known_) compare(chunk, known);
  ChunkId last = machine::kNoChunk;
  auto look_at = [&](ChunkId chunk) {
    if (chunk != last) look(chunk, cache);
    last = chunk;
  };
  if (const auto* received = std::get_if<machine::Received>(&event)) {
    wire::ChunkMessage message;
    protocol::Bytes bytes = received->message;
    if (wire::take(bytes, message)) look_at(ChunkId{message.chunk});
  }
  for (const auto& effect : effects.list)
    std::visit(base::Overloaded{[&](const machine::Lost& one) { lost(one); },
                                [](const machine::Malformed&) {},
                                [&](const auto& one) { look_at(one.chunk); }},
               effect);
}

void ChunkTrace::sent(ChunkId chunk, NodeId to, std::uint64_t bytes, trace::BytesWay way) {
  log_.note(Event::kBytesSent,
            {.object = chunk.value, .value = bytes, .kind = byte_of(way), .number = to.value});
}

void ChunkTrace::came(ChunkId chunk, std::uint64_t bytes, trace::BytesWay way) {
  log_.note(Event::kBytesCame, {.object = chunk.value, .value = bytes, .kind = byte_of(way)});
}

void ChunkTrace::answered(const Answered& call) {
  EventLog::Fields fields{
      .object = call.chunk.value, .value = call.waited_ns, .kind = byte_of(call.mode)};
  if (call.status != machine::Status::kOk) {
    fields.detail = byte_of(call.status);
    return log_.note_at(call.time_ns, Event::kScopeRefused, fields);
  }
  fields.detail = byte_of(call.origin);
  fields.number = low_half(call.version);
  log_.note_at(call.time_ns, Event::kScopeOpened, fields);
  if (call.missed > 0)
    log_.note_at(call.time_ns, Event::kMissed, {.object = call.chunk.value, .value = call.missed});
}

void ChunkTrace::closed(ChunkId chunk, Mode mode, std::uint64_t since_ns) {
  std::uint64_t now = platform::now_ns();
  log_.note_at(now, Event::kScopeClosed,
               {.object = chunk.value, .value = now - since_ns, .kind = byte_of(mode)});
}

void ChunkTrace::published(ChunkId chunk, std::uint64_t version, std::uint64_t bytes) {
  log_.note(Event::kPublished,
            {.object = chunk.value, .value = bytes, .number = low_half(version)});
}

void ChunkTrace::handler_ran(ChunkId chunk, std::uint64_t version, std::uint64_t begin_ns) {
  std::uint64_t now = platform::now_ns();
  log_.note_at(now, Event::kHandlerRan,
               {.object = chunk.value, .value = now - begin_ns, .number = low_half(version)});
}

void ChunkTrace::met(Event event, ChunkId chunk, std::uint64_t begin_ns, std::uint64_t number) {
  std::uint64_t now = platform::now_ns();
  log_.note_at(now, event,
               {.object = chunk.value, .value = now - begin_ns, .number = low_half(number)});
}

void ChunkTrace::lost(const machine::Lost& lost) {
  log_.note(Event::kLost, {.object = lost.chunk.value});
}

void ChunkTrace::died(NodeId node) { log_.note(Event::kNodeDied, {.object = node.value}); }

}  // namespace terrane::runtime::chunks
