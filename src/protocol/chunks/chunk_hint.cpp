// How a client changes a chunk's coherence, when the home asks for all that it has.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

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

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
