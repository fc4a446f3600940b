// A client's part when it gives copies up: because a home asks for them, or for their memory.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::RecallMode;

// ---- Asked for

bool ChunkCache::recalled(NodeId from, const ChunkMessage& message) {
  Copy* copy = find_copy(message.chunk);
  if (message.mode > static_cast<std::uint8_t>(RecallMode::kEnd) ||
      message.coherence > static_cast<std::uint8_t>(Coherence::kOnce))
    return false;
  ChunkId id{message.chunk};
  Copy::Due due{static_cast<RecallMode>(message.mode), message.turn,
                static_cast<Coherence>(message.coherence)};
  if (!copy && due.mode == RecallMode::kEnd) {  // all are asked, also who never heard of the chunk
    ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = message.mode, .chunk = id.value};
    answer.turn = message.turn;
    outbox_.send(from, answer);
    return true;
  }
  if (!copy || copy->due) return false;
  if (can_yield(*copy, due)) {
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

bool ChunkCache::can_yield(const Copy& copy, const Copy::Due& due) const {
  RecallMode mode = due.mode;
  if (mode == RecallMode::kEnd) return can_go_over(copy, due.to);
  if (copy.writer && !mutant(Mutant::kYieldOpenWrite)) return false;
  return mode != RecallMode::kDrop || copy.readers == 0 || mutant(Mutant::kYieldOpenRead);
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
  if (copy.blank) uncount(id, copy);
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
  if (copy && evictable(chunk, *copy)) evict(chunk, *copy);
  wake_starved();
}

bool ChunkCache::evictable(ChunkId id, const Copy& copy) const {
  bool needed =
      std::find(rebuilding_.begin(), rebuilding_.end(), id.value >> 52) != rebuilding_.end();
  if (needed && !mutant(Mutant::kDropBeforeServing)) return false;
  if (copy.pushed()) {
    bool used = copy.subscribed || copy.writer || copy.asks() || copy.due || !copy.waiters.empty();
    for (const Copy::Held& held : copy.held) used |= held.readers > 0;
    return copy.counted > 0 && !used;
  }
  if (mutant(Mutant::kEvictOpenCopy)) return copy.has_bytes && !copy.asks() && !copy.writer;
  return (copy.has_bytes || copy.blank) && !copy.asks() && !copy.due && !copy.writer &&
         copy.readers == 0 && copy.waiters.empty() && !copy.evicting;
}

// What was not written goes at once, what was is kept until it is at the home.
void ChunkCache::evict(ChunkId id, Copy& copy) {
  if (copy.state == State::kInvalid) {
    uncount(id, copy);
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
    copy.evicting = true;
    leaving_bytes_ += copy.counted;
  } else {
    outbox_.send(home_of(id, view_), message);
    uncount(id, copy);
  }
}

bool ChunkCache::evicted(const ChunkMessage& message) {
  Copy* copy = find_copy(message.chunk);
  if (!copy || !copy->evicting) return false;
  copy->evicting = false;
  leaving_bytes_ -= copy->counted;
  if (copy->state == State::kInvalid && !copy->asks() && copy->waiters.empty())
    uncount(ChunkId{message.chunk}, *copy);
  if (copy->ending()) pump(ChunkId{message.chunk}, *copy);
  wake_starved();
  return true;
}

// ---- Memory

// A copy in the home's own memory costs nothing.
std::uint64_t ChunkCache::wanted_bytes(ChunkId id, const Copy& copy) const {
  if (!copy.pushed()) return own(id) ? 0 : copy.bytes;
  return copy.bytes * (kWrittenPlaces + 1u + (copy.subscribed ? copy.window + 1 : 0) +
                       (copy.has_bytes ? 1u : 0u));
}

ChunkCache::Room ChunkCache::make_room(ChunkId id, Copy& copy) {
  std::uint64_t wanted = wanted_bytes(id, copy);
  std::uint64_t more = wanted > copy.counted ? wanted - copy.counted : 0;
  if (budget_bytes_ - used_bytes_ < more && copy.pushed() && copy.has_bytes) {
    forget_bytes(id, copy);  // they may not be needed, and this is
    return make_room(id, copy);
  }
  while (budget_bytes_ - used_bytes_ < more) {
    std::uint64_t oldest = 0;
    Copy* victim = nullptr;
    for (auto& [other_id, other] : copies_) {
      if (&other == &copy || other.counted == 0 || !evictable(ChunkId{other_id}, other)) continue;
      if (victim && other.used >= victim->used) continue;
      victim = &other;
      oldest = other_id;
    }
    if (!victim) break;
    mark(Mark::kEvictedForMemory);
    evict(ChunkId{oldest}, *victim);
  }
  if (budget_bytes_ - used_bytes_ < more)
    return budget_bytes_ - used_bytes_ + leaving_bytes_ >= more ? Room::kSoon : Room::kNone;
  copy.counted += more;
  used_bytes_ += more;
  return Room::kThere;
}

// The copy's memory goes.
void ChunkCache::uncount(ChunkId id, Copy& copy) {
  if (copy.pushed()) forget_bytes(id, copy);
  copy.has_bytes = false;
  for (const Copy::Held& held : copy.held) outbox_.discard(id, held.place);
  copy.held.clear();
  if (copy.counted > 0 && !copy.pushed()) outbox_.discard(id);
  used_bytes_ -= copy.counted;
  copy.counted = 0;
}

// Room that was set aside for a subscription is free.
void ChunkCache::recount(Copy& copy) {
  std::uint64_t wanted = copy.bytes * (kWrittenPlaces + 1u + (copy.has_bytes ? 1u : 0u));
  for (const Copy::Held& held : copy.held)
    if (!held.written) wanted += copy.bytes;
  if (wanted >= copy.counted) return;
  used_bytes_ -= copy.counted - wanted;
  copy.counted = wanted;
}

void ChunkCache::wake_starved() {
  std::vector<std::uint64_t> now;
  now.swap(starved_);
  for (std::uint64_t chunk : now) pump(ChunkId{chunk}, copies_[chunk]);
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
