#include "protocol/chunks/chunk_questions.h"

#include <algorithm>

#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

template <typename Question>
const Question* with_number(const std::vector<Question>& all, std::uint32_t number) {
  auto at = std::find_if(all.begin(), all.end(),
                         [&](const Question& one) { return one.number == number; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

void ChunkQuestions::create(const Create& event) {
  named_.push_back({next_number_++, std::string(event.name), true, event.bytes, event.coherence,
                    event.deadline_ns, event.waiter, false, event.work, event.home, event.unplaced,
                    slot_of(event.name, view_)});
  send(named_.back());
}

void ChunkQuestions::find(const Find& event) {
  named_.push_back({next_number_++, std::string(event.name), false, 0, Coherence::kInvalidate,
                    event.deadline_ns, event.waiter, event.wait});
  named_.back().slot = slot_of(event.name, view_);
  send(named_.back());
}

void ChunkQuestions::hint(const Hint& event) {
  hinted_.push_back(
      {next_number_++, event.chunk, event.coherence, event.deadline_ns, event.waiter});
  send(hinted_.back());
}

void ChunkQuestions::ask_elsewhere(const Named& question, std::uint32_t slot) {
  mark(Mark::kAskedElsewhere);
  Named& asked = named_[static_cast<std::size_t>(&question - named_.data())];
  asked.slot = slot;
  send(asked);
}

void ChunkQuestions::send(Named& question) {
  question.asked = view_.slots[question.slot].home;
  ChunkMessage message{.kind = ChunkKind::kFind};
  message.flags = question.creates ? wire::kCreateFlag : question.wait ? wire::kWaitFlag : 0;
  message.coherence = static_cast<std::uint8_t>(question.coherence);
  message.chunk = question.slot;
  message.bytes = question.bytes;
  message.request = question.number;
  message.turn = question.home;
  if (question.unplaced == Create::Unplaced::kHere) message.flags |= wire::kHereFlag;
  if (question.unplaced == Create::Unplaced::kWait) message.flags |= wire::kPlacedFlag;
  if (question.coherence == Coherence::kWork) put_shape(message, question.work);
  outbox_.send(question.asked, message, std::as_bytes(std::span(question.name)));
}

void ChunkQuestions::send(const Hinted& question) {
  ChunkMessage message{.kind = ChunkKind::kHint, .chunk = question.chunk.value};
  message.coherence = static_cast<std::uint8_t>(question.coherence);
  message.request = question.number;
  outbox_.send(home_of(question.chunk, view_), message);
}

const ChunkQuestions::Named* ChunkQuestions::named(std::uint32_t number) const {
  return with_number(named_, number);
}

const ChunkQuestions::Hinted* ChunkQuestions::hinted(std::uint32_t number) const {
  return with_number(hinted_, number);
}

std::uint64_t ChunkQuestions::next_deadline_ns() const {
  std::uint64_t next = kNever;
  for (const Named& one : named_) next = std::min(next, one.deadline_ns);
  for (const Hinted& one : hinted_) next = std::min(next, one.deadline_ns);
  return next;
}

void ChunkQuestions::elapsed(std::uint64_t now_ns) {
  std::erase_if(named_, [&](const Named& one) {
    if (one.deadline_ns > now_ns) return false;
    outbox_.resume(one.waiter, Status::kTimedOut);
    return true;
  });
  std::erase_if(hinted_, [&](const Hinted& one) {
    if (one.deadline_ns > now_ns) return false;
    outbox_.resume(one.waiter, Status::kTimedOut, one.chunk);
    return true;
  });
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
