// How a client gives up copies: because a home recalls them, or a thread does not need them.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::RecallMode;

// ---- Recalls

bool ChunkCache::recalled(NodeId from, const ChunkMessage& message) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
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
  if (mode == RecallMode::kEnd) return pushed_.go_over(id, copy, due);
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
  if (copy.blank) copies_.release(id, copy);
  if (copy.state != State::kInvalid && !copy.blank)
    mark(dirty ? Mark::kYieldDirty : Mark::kYieldClean);
  bool shared = mode == RecallMode::kShare && copy.state != State::kInvalid && !copy.blank;
  if (!(mutant(Mutant::kYieldKeepsCopy) && copy.state == State::kShared))
    copy.state = shared ? State::kShared : State::kInvalid;
  copy.blank = false;
  if (copy.pushed()) {
    copy.state = State::kInvalid;
    copy.credit = 0;
    pushed_.tidy(id, copy);
  }
  if (dirty && !mutant(Mutant::kYieldWithoutData)) {
    answer.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), answer);
  } else {
    outbox_.send(home_of(id, view_), answer);
  }
}

void ChunkCache::drop(ChunkId chunk) {
  Copy* copy = copies_.find(chunk);
  if (copy && copies_.is_evictable(chunk, *copy)) copies_.evict(chunk, *copy);
  wake_starved();
}

bool ChunkCache::evicted(const ChunkMessage& message) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
  if (!copy || !copy->evicting) return false;
  copies_.end_eviction(*copy);
  if (copy->state == State::kInvalid && !copy->asks() && copy->waiters.empty())
    copies_.release(ChunkId{message.chunk}, *copy);
  if (copy->ending()) pump(ChunkId{message.chunk}, *copy);
  wake_starved();
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
