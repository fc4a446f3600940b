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
  const machine::ChunkCache::Copy* copy = cache.copy(chunk);
  if (copy == nullptr) return;
  machine::State now = state_of(*copy);
  auto [at, fresh] = states_.try_emplace(chunk.value, machine::State::kInvalid);
  if (fresh)
    log_.note_text(Event::kObjectName,
                   {.object = chunk.value, .value = copy->bytes, .kind = byte_of(copy->coherence)},
                   copy->name);
  if (at->second == now) return;
  at->second = now;
  log_.note(Event::kState, {.object = chunk.value, .kind = byte_of(now)});
}

void ChunkTrace::stepped(const machine::Event& event, const machine::Effects& effects,
                         const machine::ChunkCache& cache) {
  std::visit(base::Overloaded{[&](const machine::ViewChanged&) {
                                for (const auto& [chunk, state] : states_)
                                  look(ChunkId{chunk}, cache);
                              },
                              [&](const machine::Received& received) {
                                wire::ChunkMessage message;
                                protocol::Bytes bytes = received.message;
                                if (wire::take(bytes, message)) look(ChunkId{message.chunk}, cache);
                              },
                              [](const machine::Create&) {}, [](const machine::Find&) {},
                              [](const machine::Elapsed&) {},
                              [&](const auto& call) { look(call.chunk, cache); }},
             event);
  for (const auto& effect : effects.list)
    std::visit(base::Overloaded{[&](const machine::Lost& one) { lost(one); },
                                [](const machine::Malformed&) {},
                                [&](const auto& one) { look(one.chunk, cache); }},
               effect);
}

void ChunkTrace::sent(ChunkId chunk, NodeId to, std::uint64_t bytes, trace::BytesWay way) {
  log_.note(Event::kBytesSent,
            {.object = chunk.value, .value = bytes, .kind = byte_of(way), .number = to.value});
}

void ChunkTrace::came(ChunkId chunk, std::uint64_t bytes, trace::BytesWay way) {
  log_.note(Event::kBytesCame, {.object = chunk.value, .value = bytes, .kind = byte_of(way)});
}

void ChunkTrace::answered(ChunkId chunk, Mode mode, trace::ScopeOrigin origin,
                          machine::Status status, std::uint64_t version, std::uint64_t missed,
                          std::uint64_t begin_ns) {
  std::uint64_t now = platform::now_ns();
  EventLog::Fields fields{.object = chunk.value, .value = now - begin_ns, .kind = byte_of(mode)};
  if (status != machine::Status::kOk) {
    fields.detail = byte_of(status);
    return log_.note_at(now, Event::kScopeRefused, fields);
  }
  fields.detail = byte_of(origin);
  fields.number = low_half(version);
  log_.note_at(now, Event::kScopeOpened, fields);
  if (missed > 0) log_.note_at(now, Event::kMissed, {.object = chunk.value, .value = missed});
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
