#include "runtime/chunks/engine_work.h"

#include "base/log.h"
#include "platform/ticks.h"
#include "runtime/chunks/engine_reports.h"

namespace terrane::runtime::chunks {

WorkCalls::Answer WorkCalls::write(ChunkId chunk, Wait wait, std::uint64_t deadline_ns) {
  ChunkEngine::Waiter waiter;
  waiter.wants = ChunkEngine::Wants::kWorkRoom;
  waiter.mode = Mode::kWrite;
  waiter.chunk = chunk;
  return engine_.call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::WorkWrite{chunk, wait, deadline_ns, id};
  });
}

WorkCalls::Answer WorkCalls::take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns) {
  ChunkEngine::Waiter waiter;
  waiter.wants = ChunkEngine::Wants::kWorkVersion;
  waiter.mode = Mode::kRead;
  waiter.chunk = chunk;
  Answer answer = engine_.call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::WorkTake{chunk, wait, deadline_ns, id};
  });
  if (answer.status == machine::Status::kOk) {
    engine_.counters_.versions_taken.fetch_add(1, std::memory_order_relaxed);
    engine_.streams_.taken(chunk, waiter.waited_ns);
    if (answer.work.again) engine_.counters_.versions_again.fetch_add(1, std::memory_order_relaxed);
  }
  return answer;
}

WorkCalls::Answer WorkCalls::subscribe(ChunkId chunk, std::uint64_t credit) {
  ChunkEngine::Waiter waiter;
  return engine_.call(waiter, machine::kNever, [&](protocol::WaiterId id) {
    return machine::WorkSubscribe{chunk, credit, id};
  });
}

void WorkCalls::unsubscribe(ChunkId chunk) {
  std::lock_guard hold(engine_.mutex_);
  engine_.step(machine::WorkUnsubscribe{chunk});
}

WorkCalls::Answer WorkCalls::end(ChunkId chunk) {
  ChunkEngine::Waiter waiter;
  return engine_.call(waiter, machine::kNever, [&](protocol::WaiterId id) {
    return machine::WorkEnd{chunk, id};
  });
}

WorkCalls::Published WorkCalls::publish(ScopeId id, std::uint64_t bytes, std::uint64_t tag) {
  std::lock_guard hold(engine_.mutex_);
  auto at = engine_.scopes_.find(id.value);
  if (at == engine_.scopes_.end() || !at->second.works || at->second.mode == Mode::kRead)
    return Published::kNotOpen;
  if (bytes > at->second.range.bytes) return Published::kTooLong;
  ChunkEngine::Scope scope = std::move(at->second);
  engine_.scopes_.erase(at);
  scope.buffer.reset();
  const machine::WorkClient::Stream* stream = engine_.machine_.cache().work().stream(scope.chunk);
  bool gone = stream->gone;
  bool ended = stream->stopped;
  // The sources of the version are those that the calling thread has taken and not released.
  std::vector<machine::WorkSource> sources;
  for (const auto& [number, other] : engine_.scopes_)
    if (other.works && other.mode == Mode::kRead && other.thread == this_thread())
      sources.push_back({other.chunk, other.place});
  engine_.step(machine::WorkPublish{scope.chunk, scope.place, bytes, tag, sources});
  if (gone) return Published::kGone;
  if (ended) return Published::kEnded;
  engine_.counters_.versions_written.fetch_add(1, std::memory_order_relaxed);
  engine_.streams_.written(scope.chunk, bytes);
  return Published::kYes;
}

NodeId WorkFacts::home(ChunkId chunk) const {
  std::lock_guard hold(engine_.mutex_);
  const machine::WorkClient::Stream* stream = engine_.machine_.cache().work().stream(chunk);
  return stream == nullptr ? kNoNode : stream->home;
}

bool WorkFacts::is_over(ChunkId chunk) const {
  std::lock_guard hold(engine_.mutex_);
  const machine::WorkClient::Stream* stream = engine_.machine_.cache().work().stream(chunk);
  if (stream == nullptr || !stream->gone || stream->home == kNoNode) return false;
  std::uint32_t home = stream->home.value;
  return home >= engine_.dead_.size() || !engine_.dead_[home];
}

// ---- Descriptions

void WorkFacts::tell_returned(const machine::WorkReturned& returned) const {
  std::string tags;
  for (std::size_t i = 0; i < returned.tags.size() && i < 8; ++i)
    tags += fmt::format("{}{}", i == 0 ? "" : ", ", returned.tags[i]);
  if (returned.tags.size() > 8) tags += fmt::format(" and {} more", returned.tags.size() - 8);
  base::log(
      "work stream '{}': {} has {} with {} version{} that it had taken or was sent (tag{} {}); {}",
      returned.name, engine_.reports().describe(returned.from), fate(returned.from),
      returned.tags.size(), returned.tags.size() == 1 ? "" : "s",
      returned.tags.size() == 1 ? "" : "s", tags,
      returned.others ? "another subscriber gets what it had"
                      : "no other node subscribes: they wait for one");
}

const char* WorkFacts::fate(NodeId node) const {
  return engine_.dead_.size() > node.value && engine_.dead_[node.value] ? "died" : "left";
}

std::string WorkFacts::state(ChunkId chunk, bool& cause) const {
  const machine::WorkHome::Stream* stream = engine_.machine_.work_home().stream(chunk);
  if (stream == nullptr) return "";
  std::string words;
  if (stream->last == 0) {
    words = "no node has published a version";
  } else {
    words = fmt::format("the newest version is {}, by {}", stream->last,
                        engine_.reports().describe(stream->writer));
    if (!engine_.view_.has(stream->writer)) {
      words += fmt::format(", which has {}", fate(stream->writer));
      cause = stream->queued.empty();
    }
  }
  if (!stream->given.empty())
    words += fmt::format("; {} versions are with subscribers, first with {}", stream->given.size(),
                         engine_.reports().describe(stream->given.begin()->second.given_to));
  if (!stream->queued.empty()) words += fmt::format("; {} wait", stream->queued.size());
  if (stream->died != kNoNode) {
    words += fmt::format("; the last subscriber, {}, has died",
                         engine_.reports().describe(stream->died));
    cause = true;
  } else if (stream->subscribers.empty()) {
    words += "; no node subscribes";
  }
  return words;
}

}  // namespace terrane::runtime::chunks
