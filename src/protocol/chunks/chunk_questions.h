#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"
#include "protocol/chunks/slots.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Questions of this node's threads to homes, other than requests for scopes: chunks by name, and
// changes of coherence. Also numbers all requests of the node.
class ChunkQuestions {
 public:
  ChunkQuestions(const View& view, ChunkOutbox& outbox) : view_(view), outbox_(outbox) {}

  struct Named {
    std::uint32_t number;
    std::string name;
    bool creates;
    std::uint64_t bytes;
    Coherence coherence;
    std::uint64_t deadline_ns;
    WaiterId waiter;
    bool wait;
    WorkShape work = {};
    std::uint32_t home = kHomeByName;
    Create::Unplaced unplaced = Create::Unplaced::kTell;
    std::uint32_t slot = 0;  // the slot whose home was asked
    NodeId asked = kNoNode;
  };
  struct Hinted {
    std::uint32_t number;
    ChunkId chunk;
    Coherence coherence;
    std::uint64_t deadline_ns;
    WaiterId waiter;
  };

  std::uint32_t next_number() { return next_number_++; }
  void create(const Create& event);
  void find(const Find& event);
  void hint(const Hint& event);
  // The question with this number; nullptr: no thread waits for it any more. Valid until the next
  // call. end() forgets a question that was answered.
  const Named* named(std::uint32_t number) const;
  const Hinted* hinted(std::uint32_t number) const;
  // The chunk is in another slot: asks the home of that slot.
  void ask_elsewhere(const Named& question, std::uint32_t slot);
  void end(const Named& question) { named_.erase(named_.begin() + (&question - named_.data())); }
  void end(const Hinted& question) {
    hinted_.erase(hinted_.begin() + (&question - hinted_.data()));
  }
  // These slots have new homes: repeats the questions to them. If the home of a name is new, the
  // question for the name starts again there. gone(chunk): the chunk died with its home.
  template <typename Gone>
  void repeat(const std::vector<std::uint32_t>& moved, Gone gone);

  std::uint64_t next_deadline_ns() const;
  void elapsed(std::uint64_t now_ns);

 private:
  void send(Named& question);
  void send(const Hinted& question);

  const View& view_;
  ChunkOutbox& outbox_;
  std::vector<Named> named_;
  std::vector<Hinted> hinted_;
  std::uint32_t next_number_ = 1;
};

template <typename Gone>
void ChunkQuestions::repeat(const std::vector<std::uint32_t>& moved, Gone gone) {
  auto has_moved = [&](std::uint64_t slot) {
    return std::find(moved.begin(), moved.end(), slot) != moved.end();
  };
  for (Named& question : named_) {
    std::uint32_t by_name = slot_of(question.name, view_);
    if (!has_moved(by_name) && view_.slots[question.slot].home == question.asked) continue;
    if (has_moved(by_name)) question.slot = by_name;
    mark(Mark::kAskRepeated);
    question.number = next_number_++;
    send(question);
  }
  std::vector<Hinted> all;
  all.swap(hinted_);
  for (Hinted& question : all) {
    bool again = has_moved(question.chunk.value >> 52);
    if (again && gone(question.chunk)) {
      outbox_.resume(question.waiter, Status::kUnknown, question.chunk);
      continue;
    }
    if (again) question.number = next_number_++;
    hinted_.push_back(question);
    if (again) send(question);
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
