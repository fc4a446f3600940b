// What the machine answers, carried out; and what other nodes send, told to it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/overloaded.h"
#include "platform/ticks.h"
#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {
namespace {

// As the system numbers it, which it is asked once.
int this_thread() {
  thread_local const int number = ::gettid();
  return number;
}

}  // namespace

// Under the mutex. Messages are sent under it too: their order for each pair is the order of the
// steps.
void ChunkEngine::step(const machine::Event& event) {
  effects_.clear();
  machine_.step(event, effects_);
  if (trace_) trace_->stepped(event, effects_, machine_.cache());
  for (const auto& effect : effects_.list)
    std::visit([this](const auto& one) { perform(one); }, effect);
}

void ChunkEngine::fail(std::string_view sentence) {
  bootstrap_.fail(sentence, 1);
  std::abort();
}

// ---- Memory

void ChunkEngine::perform(const machine::Provide& provide) {
  memory_.provide(provide.chunk, provide.place, provide.bytes);
}

// Data that came in memory of this host stay where they are.
void ChunkEngine::perform(const machine::Install& install) {
  if (incoming_ && install.bytes.data() == incoming_->data()) {
    memory_.put(install.chunk, install.place, incoming_);
    if (trace_) trace_->came(install.chunk, install.bytes.size(), trace::BytesWay::kShared);
  } else if (auto filled = memory_.fill(install.chunk, install.place, install.bytes); !filled) {
    fail(filled.error().message);
  } else if (trace_) {
    trace_->came(install.chunk, install.bytes.size(), trace::BytesWay::kCopied);
  }
}

void ChunkEngine::perform(const machine::CopyBytes& copy) {
  memory_.alias(copy.chunk, copy.from, copy.to);
}

void ChunkEngine::perform(const machine::Discard& discard) {
  memory_.discard(discard.chunk, discard.place);
}

// ---- Answers

void ChunkEngine::perform(const machine::Resume& resume) {
  Waiter& waiter = *waiters_[resume.waiter.value];
  waiter.answer = {.status = resume.status,
                   .chunk = resume.chunk,
                   .version = resume.version,
                   .missed = resume.missed,
                   .changed = resume.changed};
  bool opens = waiter.opens() && resume.status == machine::Status::kOk;
  const machine::ChunkCache::Copy* copy =
      opens || trace_ ? machine_.cache().copy(resume.chunk) : nullptr;
  if (trace_ && copy != nullptr) trace_->look(resume.chunk, *copy);
  if (opens) open_scope(waiter, resume, *copy);
  finish(waiter);
}

// Where one node has a chunk to itself its bytes are changed where they are, unless somebody may
// have to fall back to them: versions of pushed chunks, and any that a writer's death may undo.
void ChunkEngine::open_scope(Waiter& waiter, const machine::Resume& resume,
                             const machine::ChunkCache::Copy& copy) {
  bool alone = copy.pushed() || config_.survives;
  auto buffer = waiter.mode == Mode::kRead
                    ? memory_.look(resume.chunk, resume.place)
                    : memory_.open(resume.chunk, resume.place,
                                   waiter.mode == Mode::kWrite ? ChunkMemory::Old::kReplace
                                                               : ChunkMemory::Old::kKeep,
                                   alone);
  if (!buffer) fail(fmt::format("chunk '{}': {}", copy.name, buffer.error().message));
  ScopeId id{++last_scope_};
  // What was taken is looked at as far as the subscription goes.
  machine::Range range =
      (waiter.wants == Wants::kVersion ? copy.range : waiter.range).within(copy.bytes);
  waiter.answer.scope = id;
  waiter.answer.range = range;
  waiter.answer.changed = resume.changed.within(copy.bytes);
  waiter.answer.data = buffer.value() ? buffer.value()->data() + range.offset : nullptr;
  waiter.answer.opened = platform::ticks();
  waiter.answer.at_once = waiter.steps;
  bool noted = !waiter.steps || waiter.wants == Wants::kVersion;
  scopes_.emplace(
      id.value, Scope{resume.chunk, waiter.mode, range, resume.place, buffer.value(), this_thread(),
                      waiter.answer.opened, resume.version, noted, &copy});
}

void ChunkEngine::perform(const machine::Notify& notify) {
  auto at = notices_.find(notify.chunk.value);
  if (at != notices_.end() && at->second) at->second(notify.chunk);
}

void ChunkEngine::perform(const machine::Lost& lost) {
  if (lost.from == machine::Lost::kNothing) {
    base::log("chunk '{}': all who had it are dead; what was in it is lost", lost.name);
  } else {
    base::log("chunk '{}': what a node wrote and nobody else had died with it; version {} holds",
              lost.name, lost.from);
  }
}

// ---- Messages

void ChunkEngine::send(NodeId to, const wire::ChunkFrame& frame, transport::Bytes body,
                       transport::Bytes data) {
  scratch_.clear();
  wire::put(scratch_, frame);
  scratch_.insert(scratch_.end(), body.begin(), body.end());
  transport_.send(to, scratch_, data);
}

void ChunkEngine::perform(const machine::Send& send) {
  transport::Bytes body(effects_.bytes.data() + send.offset, send.size);
  if (!send.with_data) return this->send(send.to, {}, body);
  auto buffer = memory_.look(send.chunk, send.place);
  if (!buffer) fail(buffer.error().message);
  const BufferRef& data = buffer.value();
  if (!data) {
    this->send(send.to, {}, body);
  } else if (shares_[send.to.value]) {
    pool_.lend(*data, send.to);
    if (trace_) trace_->sent(send.chunk, send.to, data->bytes(), trace::BytesWay::kShared);
    wire::ChunkFrame frame{.kind = wire::FrameKind::kShared, .node = data->node().value};
    frame.buffer = data->number();
    frame.offset = data->offset();
    frame.bytes = data->bytes();
    this->send(send.to, frame, body);
  } else {
    if (trace_) trace_->sent(send.chunk, send.to, data->bytes(), trace::BytesWay::kCopied);
    this->send(send.to, {}, body, {data->data(), data->bytes()});
  }
}

void ChunkEngine::perform(const machine::Malformed& malformed) {
  fail(
      fmt::format("a malformed message came from node {}; do all nodes run the same version? See "
                  "'terrane info'",
                  malformed.from.value));
}

void ChunkEngine::received(NodeId from, transport::Bytes message) {
  wire::ChunkFrame frame;
  std::lock_guard hold(mutex_);
  if (!wire::take(message, frame)) return perform(machine::Malformed{from});
  if (frame.kind == wire::FrameKind::kMessage) {
    step(machine::Received{from, message});
  } else if (frame.kind == wire::FrameKind::kShared) {
    incoming_ = pool_.borrow(NodeId{frame.node}, frame.buffer, frame.offset, frame.bytes);
    if (!incoming_) return perform(machine::Malformed{from});
    step(machine::Received{from, message, {incoming_->data(), incoming_->bytes()}});
    incoming_.reset();
  } else {
    handle_frame(from, frame, message);
  }
}

}  // namespace terrane::runtime::chunks
