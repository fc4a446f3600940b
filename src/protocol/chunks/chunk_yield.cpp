// How a client gives up copies: because a home recalls them, or because it needs their memory.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::RecallMode;

// ---- Recalls

bool ChunkCache::recalled(NodeId from, const ChunkMessage& message) {
  Copy* copy = find_copy(message.chunk);
  if (message.mode > static_cast<std::uint8_t>(RecallMode::kEnd) ||
      message.coherence > static_cast<std::uint8_t>(Coherence::kOnce))
    return false;
  ChunkId id{message.chunk};
  Copy::Due due{static_cast<RecallMode>(message.mode), message.turn,
                static_cast<Coherence>(message.coherence)};
  if (!copy && due.mode == RecallMode::kEnd) {  // all nodes are asked, also those that do not know
                                                // the chunk
    ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = message.mode, .chunk = id.value};
    answer.turn = message.turn;
    outbox_.send(from, answer);
    return true;
  }
  if (!copy || copy->due) return false;
  if (copy->can_yield(due)) {
    yield(id, *copy, due);
  } else if (flag(message, wire::kTryFlag)) {
    mark(Mark::kYieldBusy);
    ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = message.mode};
    answer.flags = wire::kBusyFlag;
    answer.chunk = id.value;
    answer.turn = message.turn;
    outbox_.send(from, answer);
    return true;
  } else {
    mark(due.mode == RecallMode::kEnd ? Mark::kHintWaitsForScope : Mark::kYieldWaitsForScope);
    copy->due = due;
  }
  pump(id, *copy);
  return true;
}

void ChunkCache::yield(ChunkId id, Copy& copy, const Copy::Due& due) {
  RecallMode mode = due.mode;
  std::uint32_t turn = due.turn;
  if (mode == RecallMode::kEnd) return go_over(id, copy, due);
  ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = static_cast<std::uint8_t>(mode)};
  answer.chunk = id.value;
  answer.turn = turn;
  answer.version = copy.version;
  if (mode == RecallMode::kCopy) {
    if (copy.has_bytes) answer.flags = wire::kDataFlag;
    if (copy.has_bytes) return outbox_.send_data(home_of(id, view_), answer);
    return outbox_.send(home_of(id, view_), answer);
  }
  bool dirty = copy.state == State::kModified;
  // A blank copy has nothing to share.
  if (copy.state == State::kInvalid || copy.blank) {
    mark(Mark::kYieldNothing);
    answer.mode = static_cast<std::uint8_t>(RecallMode::kDrop);
  }
  if (copy.blank) memory_.release(id, copy);
  if (copy.state != State::kInvalid && !copy.blank)
    mark(dirty ? Mark::kYieldDirty : Mark::kYieldClean);
  bool shared = mode == RecallMode::kShare && copy.state != State::kInvalid && !copy.blank;
  if (!(mutant(Mutant::kYieldKeepsCopy) && copy.state == State::kShared))
    copy.state = shared ? State::kShared : State::kInvalid;
  copy.blank = false;
  if (copy.pushed()) {
    copy.state = State::kInvalid;
    copy.credit = 0;
    tidy(id, copy);
  }
  if (dirty && !mutant(Mutant::kYieldWithoutData)) {
    answer.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), answer);
  } else {
    outbox_.send(home_of(id, view_), answer);
  }
}

void ChunkCache::drop(ChunkId chunk) {
  Copy* copy = find_copy(chunk.value);
  if (copy && copy->is_evictable(awaits_home(chunk))) evict(chunk, *copy);
  wake_starved();
}

// A copy that was not written is dropped at once; the bytes of a written one are kept until they
// are at the home.
void ChunkCache::evict(ChunkId id, Copy& copy) {
  if (copy.state == State::kInvalid) {
    memory_.release(id, copy);
    return;
  }
  bool dirty = copy.state == State::kModified;
  mark(dirty ? Mark::kEvictDirty : Mark::kEvictClean);
  ChunkMessage message{.kind = ChunkKind::kEvict, .chunk = id.value, .version = copy.version};
  copy.state = State::kInvalid;
  copy.blank = false;
  if (dirty && !mutant(Mutant::kEvictWithoutData)) {
    message.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), message);
    memory_.begin_eviction(copy);
  } else {
    outbox_.send(home_of(id, view_), message);
    memory_.release(id, copy);
  }
}

bool ChunkCache::evicted(const ChunkMessage& message) {
  Copy* copy = find_copy(message.chunk);
  if (!copy || !copy->evicting) return false;
  memory_.end_eviction(*copy);
  if (copy->state == State::kInvalid && !copy->asks() && copy->waiters.empty())
    memory_.release(ChunkId{message.chunk}, *copy);
  if (copy->ending()) pump(ChunkId{message.chunk}, *copy);
  wake_starved();
  return true;
}

// ---- Memory

ChunkCache::Room ChunkCache::make_room(ChunkId id, Copy& copy) {
  std::uint64_t more = CopyMemory::missing(copy, own(id));
  if (!memory_.has(more) && copy.pushed() && copy.has_bytes) {
    memory_.forget_bytes(id, copy);  // those bytes may not be needed, but this memory is
    return make_room(id, copy);
  }
  return make_room(copy, more);
}

ChunkCache::Room ChunkCache::make_room(Copy& copy, std::uint64_t more) {
  while (!memory_.has(more)) {
    std::uint64_t oldest = 0;
    Copy* victim = nullptr;
    for (auto& [other_id, other] : copies_) {
      if (&other == &copy || other.counted == 0 ||
          !other.is_evictable(awaits_home(ChunkId{other_id})))
        continue;
      if (victim && other.used >= victim->used) continue;
      victim = &other;
      oldest = other_id;
    }
    if (!victim) break;
    mark(Mark::kEvictedForMemory);
    evict(ChunkId{oldest}, *victim);
  }
  if (!memory_.has(more)) return memory_.will_have(more) ? Room::kSoon : Room::kNone;
  memory_.count(copy, more);
  return Room::kThere;
}

void ChunkCache::wake_starved() {
  std::vector<std::uint64_t> now;
  now.swap(starved_);
  for (std::uint64_t chunk : now) pump(ChunkId{chunk}, copies_[chunk]);
  work_.memory_freed();
}

// Memory for work streams.
ChunkCache::Room ChunkCache::reserve(ChunkId chunk, std::uint64_t bytes) {
  return make_room(copies_.at(chunk.value), bytes);
}

void ChunkCache::give_back(ChunkId chunk, std::uint64_t bytes) {
  Copy& copy = copies_.at(chunk.value);
  memory_.shrink(copy, copy.counted - bytes);
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
