// Work streams.
#include "base/log.h"
#include "platform/ticks.h"
#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {

ChunkEngine::Answer ChunkEngine::write_work(ChunkId chunk, Wait wait, std::uint64_t deadline_ns) {
  Waiter waiter;
  waiter.wants = Wants::kWorkRoom;
  waiter.mode = Mode::kWrite;
  waiter.chunk = chunk;
  return call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::WorkWrite{chunk, wait, deadline_ns, id};
  });
}

ChunkEngine::Answer ChunkEngine::take_work(ChunkId chunk, Wait wait, std::uint64_t deadline_ns) {
  Waiter waiter;
  waiter.wants = Wants::kWorkVersion;
  waiter.mode = Mode::kRead;
  waiter.chunk = chunk;
  Answer answer = call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::WorkTake{chunk, wait, deadline_ns, id};
  });
  if (answer.status == machine::Status::kOk) {
    counters_.versions_taken.fetch_add(1, std::memory_order_relaxed);
    if (answer.work.again) counters_.versions_again.fetch_add(1, std::memory_order_relaxed);
  }
  return answer;
}

ChunkEngine::Answer ChunkEngine::subscribe_work(ChunkId chunk, std::uint64_t credit) {
  Waiter waiter;
  return call(waiter, machine::kNever, [&](protocol::WaiterId id) {
    return machine::WorkSubscribe{chunk, credit, id};
  });
}

void ChunkEngine::unsubscribe_work(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  step(machine::WorkUnsubscribe{chunk});
}

ChunkEngine::Answer ChunkEngine::end_work(ChunkId chunk) {
  Waiter waiter;
  return call(waiter, machine::kNever, [&](protocol::WaiterId id) {
    return machine::WorkEnd{chunk, id};
  });
}

ChunkEngine::Published ChunkEngine::publish_work(ScopeId id, std::uint64_t bytes,
                                                 std::uint64_t tag) {
  std::lock_guard hold(mutex_);
  auto at = scopes_.find(id.value);
  if (at == scopes_.end() || !at->second.works || at->second.mode == Mode::kRead)
    return Published::kNotOpen;
  if (bytes > at->second.range.bytes) return Published::kTooLong;
  Scope scope = std::move(at->second);
  scopes_.erase(at);
  scope.buffer.reset();
  const machine::WorkClient::Stream* stream = machine_.cache().work().stream(scope.chunk);
  bool gone = stream->gone;
  bool ended = stream->stopped;
  // What the calling thread has taken and not released is what it was made from.
  std::vector<machine::WorkSource> sources;
  for (const auto& [number, other] : scopes_)
    if (other.works && other.mode == Mode::kRead && other.thread == this_thread())
      sources.push_back({other.chunk, other.place});
  step(machine::WorkPublish{scope.chunk, scope.place, bytes, tag, std::move(sources)});
  if (gone) return Published::kGone;
  if (ended) return Published::kEnded;
  counters_.versions_written.fetch_add(1, std::memory_order_relaxed);
  return Published::kYes;
}

NodeId ChunkEngine::home_of_work(ChunkId chunk) const {
  std::lock_guard hold(mutex_);
  const machine::WorkClient::Stream* stream = machine_.cache().work().stream(chunk);
  return stream == nullptr ? kNoNode : stream->home;
}

bool ChunkEngine::work_is_over(ChunkId chunk) const {
  std::lock_guard hold(mutex_);
  const machine::WorkClient::Stream* stream = machine_.cache().work().stream(chunk);
  if (stream == nullptr || !stream->gone || stream->home == kNoNode) return false;
  std::uint32_t home = stream->home.value;
  return home >= dead_.size() || !dead_[home];
}

// ---- What is said of them

void ChunkEngine::tell_returned(const machine::WorkReturned& returned) {
  std::string tags;
  for (std::size_t i = 0; i < returned.tags.size() && i < 8; ++i)
    tags += fmt::format("{}{}", i == 0 ? "" : ", ", returned.tags[i]);
  if (returned.tags.size() > 8) tags += fmt::format(" and {} more", returned.tags.size() - 8);
  base::log(
      "work stream '{}': {} has {} with {} version{} that it had taken or was sent (tag{} {}); {}",
      returned.name, describe(returned.from), fate(returned.from), returned.tags.size(),
      returned.tags.size() == 1 ? "" : "s", returned.tags.size() == 1 ? "" : "s", tags,
      returned.others ? "another subscriber gets what it had"
                      : "no other node subscribes: they wait for one");
}

const char* ChunkEngine::fate(NodeId node) const {
  return dead_.size() > node.value && dead_[node.value] ? "died" : "left";
}

// At the home of a work stream; "" at other nodes. `cause`: it says why nothing comes.
std::string ChunkEngine::state_of_work(ChunkId chunk, bool& cause) const {
  const machine::WorkHome::Stream* stream = machine_.work_home().stream(chunk);
  if (stream == nullptr) return "";
  std::string words;
  if (stream->last == 0) {
    words = "no node has published a version";
  } else {
    words = fmt::format("the newest version is {}, by {}", stream->last, describe(stream->writer));
    if (!view_.has(stream->writer)) {
      words += fmt::format(", which has {}", fate(stream->writer));
      cause = stream->queued.empty();
    }
  }
  if (!stream->given.empty())
    words += fmt::format("; {} versions are with subscribers, first with {}", stream->given.size(),
                         describe(stream->given.begin()->second.given_to));
  if (!stream->queued.empty()) words += fmt::format("; {} wait", stream->queued.size());
  if (stream->died != kNoNode) {
    words += fmt::format("; the last subscriber, {}, has died", describe(stream->died));
    cause = true;
  } else if (stream->subscribers.empty()) {
    words += "; no node subscribes";
  }
  return words;
}

}  // namespace terrane::runtime::chunks
