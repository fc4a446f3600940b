// Chunks that change their coherence: a home asks every node to give up what it has of the chunk
// under the old one, and only then goes over to the new one.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// ---- A client

void ChunkCache::hint(const Hint& event) {
  Copy* copy = find_copy(event.chunk.value);
  if (!copy || copy->gone) {
    outbox_.resume(event.waiter, Status::kUnknown, event.chunk);
    return;
  }
  hints_.push_back({next_number_++, event.chunk, event.coherence, event.deadline_ns, event.waiter});
  send_hint(hints_.back());
}

void ChunkCache::send_hint(const Hinting& asked) {
  ChunkMessage message{.kind = ChunkKind::kHint, .chunk = asked.chunk.value};
  message.coherence = static_cast<std::uint8_t>(asked.coherence);
  message.request = asked.number;
  outbox_.send(home_of(asked.chunk, view_), message);
}

bool ChunkCache::hinted(const ChunkMessage& message) {
  auto at = std::find_if(hints_.begin(), hints_.end(),
                         [&](const Hinting& asked) { return asked.number == message.request; });
  if (at == hints_.end()) return true;  // nobody waits for it any more
  Status status = flag(message, wire::kUnknownFlag) ? Status::kUnknown
                  : flag(message, wire::kFullFlag)  ? Status::kNoMemory
                                                    : Status::kOk;
  Copy* copy = find_copy(at->chunk.value);
  if (copy && status == Status::kOk) gone_over(at->chunk, *copy);
  outbox_.resume(at->waiter, status, at->chunk);
  hints_.erase(at);
  return true;
}

// What a dead home was asked is asked of its successor; a pushed chunk died with it.
void ChunkCache::repeat_hints(const std::vector<std::uint32_t>& moved) {
  std::vector<Hinting> all;
  all.swap(hints_);
  for (Hinting& asked : all) {
    bool has_moved = std::find(moved.begin(), moved.end(), asked.chunk.value >> 52) != moved.end();
    const Copy* copy = find_copy(asked.chunk.value);
    if (has_moved && (!copy || copy->gone)) {
      outbox_.resume(asked.waiter, Status::kUnknown, asked.chunk);
      continue;
    }
    if (has_moved) asked.number = next_number_++;
    hints_.push_back(asked);
    if (has_moved) send_hint(asked);
  }
}

// Readers of a pushed chunk may stay where it stays pushed.
bool ChunkCache::can_go_over(const Copy& copy, Coherence to) {
  if (copy.writer || copy.evicting) return false;
  if ((copy.pushed() && to != Coherence::kInvalidate) || mutant(Mutant::kHintOpenScope))
    return true;
  return copy.readers == 0 && std::all_of(copy.held.begin(), copy.held.end(),
                                          [](const Copy::Held& held) { return held.readers == 0; });
}

void ChunkCache::go_over(ChunkId id, Copy& copy, const Copy::Due& due) {
  ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = static_cast<std::uint8_t>(due.mode)};
  answer.chunk = id.value;
  answer.turn = due.turn;
  answer.version = copy.version;
  if (copy.state == State::kModified) {
    answer.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), answer);
  } else {
    outbox_.send(home_of(id, view_), answer);
  }
  copy.state = State::kInvalid;
  copy.blank = false;
  copy.credit = 0;
  bool was_pushed = copy.pushed();
  bool stays = was_pushed && due.to != Coherence::kInvalidate;
  if (due.to != copy.coherence) gone_over(id, copy);  // to what it was before, all had
  if (!stays) {
    if (copy.subscribed) end_subscription(id, copy);
    // A successor of the home learns from this which versions have been seen.
    copy.version = copy.seen = std::max(copy.seen, copy.version);
    if (was_pushed || own(id) || !copy.has_bytes) uncount(id, copy);
    if (was_pushed) end_tries_in_line(id, copy);
  }
  copy.coherence = due.to;
  if (!was_pushed) copy.half = due.to;
  if (stays) tidy(id, copy);
}

// All have gone over: what came here from the home would not have come before.
void ChunkCache::gone_over(ChunkId id, Copy& copy) {
  if (!copy.half || mutant(Mutant::kGoneOverUnnoticed)) return;
  copy.half.reset();
  if (copy.pushed()) forget_bytes(id, copy);
}

// The home died, and whether all had gone over is not known here: its successor is to find out.
void ChunkCache::step_back(ChunkId id, Copy& copy) {
  mark(Mark::kHintStepsBack);
  if (copy.subscribed) end_subscription(id, copy);
  copy.coherence = Coherence::kInvalidate;
  std::uint64_t needed = copy.has_bytes ? copy.bytes : 0;
  used_bytes_ -= copy.counted - needed;
  copy.counted = needed;
  end_tries_in_line(id, copy);
}

// Scopes of what is pushed no more open in order; a try waits for none of them.
void ChunkCache::end_tries_in_line(ChunkId id, Copy& copy) {
  for (std::size_t i = copy.waiters.size(); i-- > 1;) {
    if (copy.waiters[i].wait != Wait::kTry) continue;
    outbox_.resume(copy.waiters[i].waiter, Status::kBusy, id);
    copy.waiters.erase(copy.waiters.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Of a pushed chunk: those from before it was one.
void ChunkCache::forget_bytes(ChunkId id, Copy& copy) {
  if (!copy.has_bytes) return;
  copy.has_bytes = false;
  outbox_.discard(id);
  used_bytes_ -= copy.bytes;
  copy.counted -= copy.bytes;
}

void ChunkCache::end_subscription(ChunkId id, Copy& copy) {
  copy.subscribed = false;
  copy.at_home = 0;
  for (const Copy::Taker& taker : copy.takers)
    outbox_.resume(taker.waiter, Status::kNotSubscribed, id);
  copy.takers.clear();
  outbox_.notify(id, copy.version);  // who polls finds that it has ended
}

// ---- A home

bool ChunkHome::hint(NodeId from, const ChunkMessage& message) {
  if (message.coherence > static_cast<std::uint8_t>(Coherence::kOnce)) return false;
  Entry::Request request{.node = from, .number = message.request};
  request.hint = static_cast<Coherence>(message.coherence);
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) {
    answer_hint(ChunkId{message.chunk}, request, wire::kUnknownFlag);
    return true;
  }
  auto waiting = std::count_if(at->second.queue.begin(), at->second.queue.end(),
                               [&](const Entry::Request& r) { return r.node == from; });
  if (waiting > static_cast<std::ptrdiff_t>(kMaxWindow)) return false;
  at->second.queue.push_back(request);
  serve(ChunkId{message.chunk}, at->second);
  return true;
}

void ChunkHome::answer_hint(ChunkId id, const Entry::Request& request, std::uint8_t flags) {
  if (request.node == kNoNode) return;  // whoever asked the home before asks again
  ChunkMessage answer{.kind = ChunkKind::kHinted, .flags = flags, .chunk = id.value};
  answer.request = request.number;
  outbox_.send(request.node, answer);
}

// What a chunk of this coherence may take of the home's memory.
std::uint64_t ChunkHome::home_bytes(const Entry& entry, Coherence coherence) {
  return coherence == Coherence::kInvalidate ? entry.bytes : entry.bytes * depth(coherence);
}

void ChunkHome::begin_hint(ChunkId id, Entry& entry) {
  Entry::Request& request = entry.serving;
  if (*request.hint == entry.coherence) {
    mark(Mark::kHintFindsItSo);
    answer_hint(id, request, 0);
    return;
  }
  std::uint64_t now = home_bytes(entry, entry.coherence);
  std::uint64_t then = home_bytes(entry, *request.hint);
  if (then > now && then - now > memory_bytes_ - used_bytes_) {
    answer_hint(id, request, wire::kFullFlag);
    return;
  }
  request.begun = true;
  entry.active = true;
  entry.refused = false;
  ++entry.turn;
  for (NodeId member : view_.members) {
    if (mutant(Mutant::kHintUnasked) && member != entry.owner && member != outbox_.self()) continue;
    recall(id, entry, member, wire::RecallMode::kEnd);
  }
}

// All have given up what they had.
void ChunkHome::change(ChunkId id, Entry& entry, const Entry::Request& request) {
  Coherence to = *request.hint;
  bool was_pushed = entry.coherence != Coherence::kInvalidate;
  bool will_be = to != Coherence::kInvalidate;
  used_bytes_ += home_bytes(entry, to);
  used_bytes_ -= std::min(used_bytes_, home_bytes(entry, entry.coherence));
  entry.sharers.clear();
  if (was_pushed && will_be) {
    mark(Mark::kHintAmongPushed);
  } else if (will_be) {
    mark(Mark::kHintToPushed);
    Place first{kHomePlaces};
    outbox_.provide(id, entry.bytes, first);
    outbox_.copy(id, Place{}, first);
    outbox_.discard(id);
    entry.kept.push_back({entry.version, first, {}});
  } else {
    mark(Mark::kHintFromPushed);
    outbox_.provide(id, entry.bytes);
    outbox_.copy(id, entry.kept.back().place, Place{});
    for (const Entry::Kept& kept : entry.kept) outbox_.discard(id, kept.place);
    entry.kept.clear();
    entry.subscribers.clear();
  }
  entry.coherence = to;
  for (Entry::Request& other : entry.queue)
    other.flags &= static_cast<std::uint8_t>(~wire::kHaveFlag);
  answer_hint(id, request, 0);
  std::vector<std::pair<NodeId, ChunkMessage>> early;
  early.swap(entry.early);
  for (const auto& [node, message] : early)
    if (!subscribe(node, message)) outbox_.malformed(node);
}

// What somebody is told who asks for the name now: nobody asks him to go over any more.
Coherence ChunkHome::coherence_to_be(const Entry& entry) {
  if (entry.active && !entry.fetching && entry.serving.hint) return *entry.serving.hint;
  if (!entry.queue.empty() && entry.queue.front().begun) return *entry.queue.front().hint;
  return entry.coherence;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
