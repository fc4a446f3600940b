// Barriers and signals, which a node's runtime makes of chunks, and threads that must not have to
// wait for other threads.

#include <algorithm>

#include "sim/chunks/chunk_history.h"
#include "sim/chunks/chunk_names.h"

namespace terrane::sim {

using chunks::Mode;
using chunks::Status;

namespace {

// The one word of a simulated chunk holds both words of a real one.
std::uint64_t packed(const chunks::MeetingWords& words) {
  return words.parties << 32 | words.count;
}

chunks::MeetingWords unpacked(std::uint64_t word) {
  return {.count = word & 0xffffffffu, .parties = word >> 32};
}

}  // namespace

// A thread has opened the scope in which it arrives or gives its signal. Computes what it writes.
void ChunkHistory::come(std::uint32_t t, std::uint32_t c) {
  Thread& thread = threads_[t];
  std::uint64_t word = words(thread.node, thread.id[c], thread.place[c])[0];
  chunks::MeetingWords words = unpacked(word);
  if (program_->all[c].parties > 0) {
    chunks::Arrival arrival = chunks::arrive(words, program_->all[c].parties);
    if (!arrival.agrees) violated(Fault::kBadAnswer, "thread {} is not of barrier {}", t, c);
    thread.target = arrival.target;
  } else {
    chunks::give_signal(words);
  }
  thread.stamp[c] = packed(words);
}

// The thread has closed that scope. No earlier arrival may be forgotten.
void ChunkHistory::came(std::uint32_t t, std::uint32_t c) {
  Thread& thread = threads_[t];
  std::uint64_t count = unpacked(thread.stamp[c]).count;
  if (count != ++come_[c])
    violated(Fault::kWrongValue, "chunk {} counts {} where {} have come", c, count, come_[c]);
  std::uint64_t parties = program_->all[c].parties;
  if (parties > 0) thread.must = (count + parties - 1) / parties * parties;
  Meeting& meeting = meetings_[thread.node][c];
  if (meeting.known.learn(count)) wake_sleepers(meeting);
}

void ChunkHistory::wake(std::uint32_t t) {
  if (hushed_ != kNobody && t != hushed_) {
    waiting_to_act_.push_back(t);
  } else {
    schedule_.ready(static_cast<ActorId>(t));
  }
}

void ChunkHistory::wake_sleepers(Meeting& meeting) {
  for (std::uint32_t t : meeting.sleepers) wake(t);
  meeting.sleepers.clear();
}

void ChunkHistory::sleep(std::uint32_t t, Meeting& meeting) {
  meeting.sleepers.push_back(t);
  schedule_.park(static_cast<ActorId>(t));
}

// The first thread of a node that joins a barrier or signal subscribes for all its threads.
void ChunkHistory::join_meeting(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  Meeting& meeting = meetings_[thread.node][op.chunk];
  if (meeting.state == Meeting::kJoined) {
    ++thread.next;
  } else if (meeting.state == Meeting::kJoining) {
    sleep(t, meeting);
  } else {
    meeting.state = Meeting::kJoining;
    thread.waits = true;
    schedule_.park(static_cast<ActorId>(t));
    step(thread.node, chunks::Subscribe{.chunk = thread.id[op.chunk],
                                        .policy = chunks::Policy::kLatest,
                                        .window = 1,
                                        .waiter = protocol::WaiterId{t}});
  }
}

void ChunkHistory::meet(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  Meeting& meeting = meetings_[thread.node][c];
  if (thread.open[c]) {  // it has taken a version
    std::span<std::uint64_t> seen = words(thread.node, thread.id[c], thread.place[c]);
    chunks::MeetingWords words = unpacked(seen[0]);
    checker_.looks(t, c, thread.version[c], seen);
    thread.open[c] = false;
    step(thread.node, chunks::Close{thread.id[c], Mode::kRead, thread.place[c]});
    if (meeting.known.took(&words)) wake_sleepers(meeting);
    return;
  }
  bool barrier = program_->all[c].parties > 0;
  std::uint64_t must = barrier ? thread.must : op.count;
  switch (meeting.known.next(barrier ? thread.target : op.count)) {
    case chunks::MeetingCount::Next::kDone:
      if (come_[c] < must)
        violated(Fault::kWrongValue, "thread {} goes on though {} of {} have come", t, come_[c],
                 must);
      ++thread.next;
      return;
    case chunks::MeetingCount::Next::kWait:
      return sleep(t, meeting);
    case chunks::MeetingCount::Next::kTake:
      thread.waits = true;
      schedule_.park(static_cast<ActorId>(t));
      step(thread.node,
           chunks::Take{thread.id[c], chunks::Wait::kBlock, chunks::kNever, protocol::WaiterId{t}});
  }
}

// The answer to the subscription, or a version.
void ChunkHistory::met(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  if (resume.status != Status::kOk)
    violated(Fault::kBadAnswer, "thread {}: {} answers {}", t, describe(op),
             name_of(resume.status));
  Meeting& meeting = meetings_[thread.node][op.chunk];
  if (op.kind == ChunkOpKind::kJoinMeeting) {
    meeting.state = Meeting::kJoined;
    wake_sleepers(meeting);
    return;
  }
  thread.open[op.chunk] = true;
  thread.version[op.chunk] = resume.version;
  thread.place[op.chunk] = resume.place;
}

// ---- A thread that waits for no scope gets its answer though no other thread acts

void ChunkHistory::hush_others(std::uint32_t t, const ChunkOp& op) {
  const Thread& thread = threads_[t];
  if (!thread.waits || hushed_ != kNobody || op.kind != ChunkOpKind::kOpen) return;
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  bool reads = chunk.pushed() && !chunk.changes && op.mode == Mode::kRead && op.patience == 0;
  if (op.wait != chunks::Wait::kTry && !reads) return;
  // An outdated version leaves memory only when its readers close it.
  for (const Thread& other : threads_)
    if (reads && other.node == thread.node && other.open[op.chunk]) return;
  if (!rng_.chance(20)) return;
  hushed_ = t;
  for (std::uint32_t u = 0; u < threads_.size(); ++u) {
    if (u == t || !schedule_.is_ready(static_cast<ActorId>(u))) continue;
    schedule_.park(static_cast<ActorId>(u));
    waiting_to_act_.push_back(u);
  }
}

void ChunkHistory::end_hush() {
  hushed_ = kNobody;
  for (std::uint32_t t : waiting_to_act_)
    if (nodes_[threads_[t].node].alive) schedule_.ready(static_cast<ActorId>(t));
  waiting_to_act_.clear();
}

}  // namespace terrane::sim
