// Performs the machine's effects, and gives it what other nodes send.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/overloaded.h"
#include "platform/ticks.h"
#include "runtime/chunks/chunk_engine.h"
#include "runtime/chunks/engine_work.h"

namespace terrane::runtime::chunks {
// Carries out the machine's effects, under the mutex.
class ChunkEngine::Performer {
 public:
  explicit Performer(ChunkEngine& engine) : engine_(engine) {}

  void perform(const machine::Provide& provide) {
    engine_.memory_.provide(provide.chunk, provide.place, provide.bytes);
  }

  // Data that came through memory of this host are used in place.
  void perform(const machine::Install& install) {
    if (engine_.incoming_ && install.bytes.data() == engine_.incoming_->data()) {
      engine_.memory_.put(install.chunk, install.place, engine_.incoming_);
      if (engine_.trace_)
        engine_.trace_->came(install.chunk, install.bytes.size(), trace::BytesWay::kShared);
      return;
    }
    engine_.counters_.data_bytes_received.fetch_add(install.bytes.size(),
                                                    std::memory_order_relaxed);
    if (auto filled = engine_.memory_.fill(install.chunk, install.place, install.bytes); !filled) {
      engine_.fail(filled.error().message);
    } else if (engine_.trace_) {
      engine_.trace_->came(install.chunk, install.bytes.size(), trace::BytesWay::kCopied);
    }
  }

  void perform(const machine::CopyBytes& copy) {
    engine_.memory_.alias(copy.chunk, copy.from, copy.to);
  }

  void perform(const machine::Discard& discard) {
    engine_.memory_.discard(discard.chunk, discard.place);
  }

  void perform(const machine::Resume& resume) {
    Waiter& waiter = *engine_.waiters_[resume.waiter.value];
    waiter.answer = {.status = resume.status,
                     .chunk = resume.chunk,
                     .version = resume.version,
                     .missed = resume.missed,
                     .changed = resume.changed,
                     .work = resume.work};
    bool opens = waiter.opens() && resume.status == machine::Status::kOk;
    const machine::ChunkCache::Copy* copy =
        opens || engine_.trace_ ? engine_.machine_.cache().copy(resume.chunk) : nullptr;
    if (engine_.trace_ && copy != nullptr) engine_.trace_->look(resume.chunk, *copy);
    if (opens) open_scope(waiter, resume, *copy);
    engine_.finish(waiter);
  }

  // If this node alone has a chunk, its bytes are changed in place. Not so if an older version may
  // be needed: versions of pushed chunks, and all versions if a writer's death may undo one.
  void open_scope(Waiter& waiter, const machine::Resume& resume,
                  const machine::ChunkCache::Copy& copy) {
    bool alone = copy.pushed() || engine_.config_.survives;
    auto buffer = waiter.mode == Mode::kRead ? engine_.memory_.look(resume.chunk, resume.place)
                                             : engine_.memory_.open(resume.chunk, resume.place,
                                                                    waiter.mode == Mode::kWrite
                                                                        ? ChunkMemory::Old::kReplace
                                                                        : ChunkMemory::Old::kKeep,
                                                                    alone);
    if (!buffer) engine_.fail(fmt::format("chunk '{}': {}", copy.name, buffer.error().message));
    ScopeId id{++engine_.last_scope_};
    // The range of a version that was taken is that of the subscription.
    machine::Range range =
        waiter.wants == Wants::kWorkVersion
            ? machine::Range{0, resume.work.bytes}
            : (waiter.wants == Wants::kVersion ? copy.range : waiter.range).within(copy.bytes);
    waiter.answer.scope = id;
    waiter.answer.range = range;
    waiter.answer.changed = resume.changed.within(copy.bytes);
    waiter.answer.data = buffer.value() ? buffer.value()->data() + range.offset : nullptr;
    waiter.answer.opened = platform::ticks();
    waiter.answer.at_once = waiter.steps;
    bool noted = !waiter.steps || waiter.wants == Wants::kVersion;
    engine_.scopes_.emplace(id.value, Scope{resume.chunk, waiter.mode, range, resume.place,
                                            buffer.value(), waiter.thread, waiter.answer.opened,
                                            resume.version, noted, &copy, waiter.works()});
  }

  void perform(const machine::Notify& notify) {
    auto at = engine_.notices_.find(notify.chunk.value);
    if (at != engine_.notices_.end() && at->second) at->second(notify.chunk);
    engine_.readiness_.raise(notify.chunk, Readiness::Of::kTake);
  }

  void perform(const machine::NotifyWritable& notify) {
    engine_.readiness_.raise(notify.chunk, Readiness::Of::kWrite);
  }

  void perform(const machine::WorkReturned& returned) {
    WorkFacts(engine_).tell_returned(returned);
  }

  void perform(const machine::Lost& lost) {
    if (lost.from == machine::Lost::kNothing) {
      base::log("chunk '{}': all who had it are dead; what was in it is lost", lost.name);
    } else {
      base::log("chunk '{}': what a node wrote and nobody else had died with it; version {} holds",
                lost.name, lost.from);
    }
  }

  void perform(const machine::Send& send) {
    transport::Bytes body(engine_.effects_.bytes.data() + send.offset, send.size);
    if (!send.with_data || send.data_bytes == 0) return engine_.send(send.to, {}, body);
    auto buffer = engine_.memory_.look(send.chunk, send.place);
    if (!buffer) engine_.fail(buffer.error().message);
    const BufferRef& data = buffer.value();
    std::uint64_t bytes = data ? std::min<std::uint64_t>(data->bytes(), send.data_bytes) : 0;
    if (!data) {
      engine_.send(send.to, {}, body);
    } else if (engine_.shares_[send.to.value]) {
      engine_.pool_.lend(*data, send.to);
      engine_.counters_.shared_bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
      if (engine_.trace_)
        engine_.trace_->sent(send.chunk, send.to, bytes, trace::BytesWay::kShared);
      wire::ChunkFrame frame{.kind = wire::FrameKind::kShared, .node = data->node().value};
      frame.buffer = data->number();
      frame.offset = data->offset();
      frame.bytes = data->bytes();
      engine_.send(send.to, frame, body);
    } else {
      engine_.counters_.data_bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
      if (engine_.trace_)
        engine_.trace_->sent(send.chunk, send.to, bytes, trace::BytesWay::kCopied);
      engine_.send(send.to, {}, body, {data->data(), bytes});
    }
  }

  void perform(const machine::Forward& forward) {
    transport::Bytes body(engine_.effects_.bytes.data() + forward.offset, forward.size);
    std::uint64_t bytes = forward.data.size();
    engine_.counters_.data_bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
    if (engine_.trace_)
      engine_.trace_->sent(forward.chunk, forward.to, bytes, trace::BytesWay::kCopied);
    engine_.send(forward.to, {}, body, forward.data);
  }

  void perform(const machine::Malformed& malformed) { engine_.fail_malformed(malformed.from); }

 private:
  ChunkEngine& engine_;
};

// Under the mutex. Messages are sent under it too, so the messages of each pair of nodes have the
// order of the steps.
void ChunkEngine::step(const machine::Event& event) {
  effects_.clear();
  machine_.step(event, effects_);
  if (trace_) trace_->stepped(event, effects_, machine_.cache());
  Performer performer(*this);
  for (const auto& effect : effects_.list)
    std::visit([&](const auto& one) { performer.perform(one); }, effect);
}

void ChunkEngine::fail_malformed(NodeId from) {
  fail(
      fmt::format("a malformed message came from node {}; do all nodes run the same version? See "
                  "'terrane info'",
                  from.value));
}

void ChunkEngine::fail(std::string_view sentence) {
  bootstrap_.fail(sentence, 1);
  std::abort();
}

void ChunkEngine::send(NodeId to, const wire::ChunkFrame& frame, transport::Bytes body,
                       transport::Bytes data) {
  scratch_.clear();
  wire::put(scratch_, frame);
  scratch_.insert(scratch_.end(), body.begin(), body.end());
  counters_.messages_sent.fetch_add(1, std::memory_order_relaxed);
  transport_.send(to, scratch_, data);
}

void ChunkEngine::received(NodeId from, transport::Bytes message) {
  wire::ChunkFrame frame;
  std::lock_guard hold(mutex_);
  if (!wire::take(message, frame)) return fail_malformed(from);
  counters_.messages_received.fetch_add(1, std::memory_order_relaxed);
  if (frame.kind == wire::FrameKind::kMessage) {
    step(machine::Received{from, message});
  } else if (frame.kind == wire::FrameKind::kShared) {
    incoming_ = pool_.borrow(NodeId{frame.node}, frame.buffer, frame.offset, frame.bytes);
    if (!incoming_) return fail_malformed(from);
    step(machine::Received{from, message, {incoming_->data(), incoming_->bytes()}});
    incoming_.reset();
  } else {
    handle_frame(from, frame, message);
  }
}

}  // namespace terrane::runtime::chunks
