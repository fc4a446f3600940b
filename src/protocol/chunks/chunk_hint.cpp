// Chunks that change their coherence: the home asks every node to give up what it has of the chunk
// under the old coherence, and only then changes to the new one.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// ---- A client

void ChunkCache::hint(const Hint& event) {
  Copy* copy = find_copy(event.chunk.value);
  if (!copy || copy->gone || copy->works()) {
    outbox_.resume(event.waiter, Status::kUnknown, event.chunk);
    return;
  }
  questions_.hint(event);
}

bool ChunkCache::hinted(const ChunkMessage& message) {
  const ChunkQuestions::Hinted* question = questions_.hinted(message.request);
  if (question == nullptr) return true;  // no thread waits for it any more
  Status status = flag(message, wire::kUnknownFlag) ? Status::kUnknown
                  : flag(message, wire::kFullFlag)  ? Status::kNoMemory
                                                    : Status::kOk;
  Copy* copy = find_copy(question->chunk.value);
  if (copy && status == Status::kOk) gone_over(question->chunk, *copy);
  outbox_.resume(question->waiter, status, question->chunk);
  questions_.end(*question);
  return true;
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
  if (due.to != copy.coherence) gone_over(id, copy);  // all had changed to copy.coherence
  if (!stays) {
    if (copy.subscribed) copy.end_subscription(id, outbox_);
    // This shows a successor of the home which versions have been seen.
    copy.version = copy.seen = std::max(copy.seen, copy.version);
    if (was_pushed || own(id) || !copy.has_bytes) memory_.release(id, copy);
    if (was_pushed) copy.end_tries_in_line(id, outbox_);
  }
  copy.coherence = due.to;
  if (!was_pushed) copy.half = due.to;
  if (stays) tidy(id, copy);
}

// All nodes have changed to the new coherence: before that the home would not have sent what came
// here.
void ChunkCache::gone_over(ChunkId id, Copy& copy) {
  if (!copy.half || mutant(Mutant::kGoneOverUnnoticed)) return;
  copy.half.reset();
  if (copy.pushed()) memory_.forget_bytes(id, copy);
}

// The home died, and this node does not know whether all had changed. The successor finds out.
void ChunkCache::step_back(ChunkId id, Copy& copy) {
  mark(Mark::kHintStepsBack);
  if (copy.subscribed) copy.end_subscription(id, outbox_);
  copy.coherence = Coherence::kInvalidate;
  memory_.shrink(copy, copy.has_bytes ? copy.bytes : 0);
  copy.end_tries_in_line(id, outbox_);
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
  if (request.node == kNoNode) return;  // the node that asked the former home asks again
  ChunkMessage answer{.kind = ChunkKind::kHinted, .flags = flags, .chunk = id.value};
  answer.request = request.number;
  outbox_.send(request.node, answer);
}

void ChunkHome::begin_hint(ChunkId id, Entry& entry) {
  Entry::Request& request = entry.serving;
  if (*request.hint == entry.coherence) {
    mark(Mark::kHintFindsItSo);
    answer_hint(id, request, 0);
    return;
  }
  std::uint64_t now = entry.home_bytes(entry.coherence);
  std::uint64_t then = entry.home_bytes(*request.hint);
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

// All nodes have given up what they had.
void ChunkHome::change(ChunkId id, Entry& entry, const Entry::Request& request) {
  Coherence to = *request.hint;
  bool was_pushed = entry.coherence != Coherence::kInvalidate;
  bool will_be = to != Coherence::kInvalidate;
  used_bytes_ += entry.home_bytes(to);
  used_bytes_ -= std::min(used_bytes_, entry.home_bytes(entry.coherence));
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

Coherence ChunkHome::Entry::coherence_to_be() const {
  if (active && !fetching && serving.hint) return *serving.hint;
  if (!queue.empty() && queue.front().begun) return *queue.front().hint;
  return coherence;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
