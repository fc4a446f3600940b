#include "runtime/chunks/chunk_trace.h"

#include <algorithm>

#include "base/overloaded.h"

namespace terrane::runtime::chunks {

namespace machine = protocol::chunks;
using trace::Event;
using trace::EventLog;

namespace {

std::uint32_t low_half(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

template <typename Enum>
std::uint8_t byte_of(Enum value) {
  return static_cast<std::uint8_t>(value);
}

}  // namespace

ChunkTrace::ChunkTrace(EventLog& log, std::uint32_t every)
    : log_(log), every_(every), random_(platform::ticks() | 1) {
  log_.note(Event::kScopesEvery, {.number = every_});
}

ChunkTrace::~ChunkTrace() {
  for (std::size_t i = 0; i < noted_.size(); ++i)
    for (std::uint8_t mode = 0; mode < noted_[i].gaps.size(); ++mode) {
      auto [size, left] = noted_[i].gaps[mode];
      std::uint32_t more = size - left;
      if (more > 0)
        log_.note(Event::kScopesMore,
                  {.object = known_[i].first.value, .kind = mode, .number = more});
    }
}

// Records the chunk's name before its first state.
void ChunkTrace::learn(ChunkId chunk, const Copy& copy) {
  if (copy.ordinal >= known_.size()) {
    known_.resize(copy.ordinal + 1);
    noted_.resize(copy.ordinal + 1);
  }
  known_[copy.ordinal] = {chunk, &copy};
  noted_[copy.ordinal].state = byte_of(machine::State::kInvalid);
  log_.note_text(Event::kObjectName,
                 {.object = chunk.value, .value = copy.bytes, .kind = byte_of(copy.coherence)},
                 copy.name);
}

void ChunkTrace::note_state(ChunkId chunk, const Copy& copy, std::uint8_t now) {
  if (copy.ordinal >= noted_.size() || noted_[copy.ordinal].state == kUnknown) learn(chunk, copy);
  std::uint8_t& noted = noted_[copy.ordinal].state;
  if (noted == now) return;
  noted = now;
  log_.note(Event::kState, {.object = chunk.value, .kind = now});
}

// A copy's state changes only with an effect on its chunk, by a message, or by a change of the
// view.
void ChunkTrace::look_around(const machine::Event& event, const machine::Effects& effects,
                             const machine::ChunkCache& cache) {
  if (std::holds_alternative<machine::ViewChanged>(event))
    for (const auto& [chunk, copy] : known_)
      if (copy != nullptr) look(chunk, *copy);
  ChunkId last = machine::kNoChunk;
  auto look_at = [&](ChunkId chunk) {
    const Copy* copy = chunk != last ? cache.copy(chunk) : nullptr;
    if (copy != nullptr) look(chunk, *copy);
    last = chunk;
  };
  if (const auto* received = std::get_if<machine::Received>(&event)) {
    wire::ChunkMessage message;
    protocol::Bytes bytes = received->message;
    if (wire::take(bytes, message)) look_at(ChunkId{message.chunk});
  }
  for (const auto& effect : effects.list) {
    if (std::holds_alternative<machine::Resume>(effect)) continue;
    std::visit(base::Overloaded{[&](const machine::Lost& one) { lost(one); },
                                [](const machine::Malformed&) {},
                                [&](const auto& one) { look_at(one.chunk); }},
               effect);
  }
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
      .object = call.chunk.value, .value = call.waited, .kind = byte_of(call.mode)};
  if (call.status != machine::Status::kOk) {
    fields.detail = byte_of(call.status);
    return log_.note_at(call.time, Event::kScopeRefused, fields);
  }
  fields.detail = byte_of(call.origin);
  fields.number = low_half(call.version);
  log_.note_at(call.time, Event::kScopeOpened, fields);
  if (call.missed > 0)
    log_.note_at(call.time, Event::kMissed, {.object = call.chunk.value, .value = call.missed});
}

void ChunkTrace::note_closed(const Closed& scope, Event event, std::uint8_t detail) {
  std::uint64_t now = platform::ticks();
  log_.note_at(now, event,
               {.object = scope.chunk.value,
                .value = now - scope.since,
                .kind = byte_of(scope.mode),
                .detail = detail,
                .number = low_half(scope.version)});
}

// The first scope has a record. The gaps between records are random, uniform from none to twice
// their mean, so that a program's period does not determine which scopes have one.
void ChunkTrace::note_sample(const Closed& scope, Gap& gap) {
  note_closed(scope, Event::kScope, gap.size);
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  gap.size = gap.left = static_cast<std::uint8_t>((random_ >> 32) * (2 * every_ - 1) >> 32);
}

void ChunkTrace::published(ChunkId chunk, std::uint64_t version, std::uint64_t bytes,
                           std::uint64_t time) {
  log_.note_at(time, Event::kPublished,
               {.object = chunk.value, .value = bytes, .number = low_half(version)});
}

void ChunkTrace::handler_ran(ChunkId chunk, std::uint64_t version, std::uint64_t begin) {
  std::uint64_t now = platform::ticks();
  log_.note_at(now, Event::kHandlerRan,
               {.object = chunk.value, .value = now - begin, .number = low_half(version)});
}

void ChunkTrace::met(Event event, ChunkId chunk, std::uint64_t begin, std::uint64_t number) {
  std::uint64_t now = platform::ticks();
  log_.note_at(now, event,
               {.object = chunk.value, .value = now - begin, .number = low_half(number)});
}

void ChunkTrace::lost(const machine::Lost& lost) {
  log_.note(Event::kLost, {.object = lost.chunk.value});
}

void ChunkTrace::died(NodeId node) { log_.note(Event::kNodeDied, {.object = node.value}); }

}  // namespace terrane::runtime::chunks
