// The operations of a program's threads.

#include <algorithm>

#include "sim/chunks/chunk_history.h"
#include "sim/chunks/chunk_names.h"

namespace terrane::sim {

using chunks::Mode;
using chunks::Status;

void ChunkHistory::act(std::uint32_t t) {
  Thread& thread = threads_[t];
  const std::vector<ChunkOp>& ops = program_->ops[t];
  if (thread.next == ops.size()) {
    --running_;
    schedule_.park(static_cast<ActorId>(t));
    return;
  }
  const ChunkOp& op = ops[thread.next];
  if (nodes_[thread.node].undead && !may_act(t, op)) {
    schedule_.park(static_cast<ActorId>(t));
    return;
  }
  bool scope = op.kind == ChunkOpKind::kWork || op.kind == ChunkOpKind::kClose ||
               op.kind == ChunkOpKind::kEndTake;
  bool needs = op.kind == ChunkOpKind::kUnsubscribe || op.kind == ChunkOpKind::kTake ||
               op.kind == ChunkOpKind::kTakeAll;
  if (needs && !thread.subscribed) {
    ++thread.next;
    return;
  }
  if (scope && !thread.open[op.chunk]) {
    ++thread.next;
    return;
  }
  if (trace_) trace_->add(schedule_.picks(), "node {} thread {}: {}", thread.node, t, describe(op));
  note(t << 8 | static_cast<std::uint32_t>(op.kind));
  if (op.kind == ChunkOpKind::kJoinMeeting) {
    join_meeting(t, op);
  } else if (op.kind == ChunkOpKind::kMeet) {
    meet(t, op);
  } else if (op.kind == ChunkOpKind::kWork) {
    work(t, op);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kClose) {
    close(t, op);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kEndTake) {
    close_take(t, op.chunk);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kTakeAll && thread.open[op.chunk]) {
    close_take(t, op.chunk);
  } else if (op.kind == ChunkOpKind::kTakeAll && writers_done(op.chunk) &&
             checker_.took_last(t, op.chunk)) {
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kUnsubscribe) {
    ++thread.next;
    thread.subscribed = false;
    step(thread.node, chunks::Unsubscribe{thread.id[op.chunk]});
  } else if (op.kind == ChunkOpKind::kDrop) {
    ++thread.next;
    step(thread.node, chunks::Drop{thread.id[op.chunk]});
  } else {
    thread.waits = true;
    schedule_.park(static_cast<ActorId>(t));
    start(t, op);
    if (nodes_[thread.node].alive) hush_others(t, op);
  }
}

// Begins an operation that gets an answer.
void ChunkHistory::start(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  protocol::WaiterId waiter{t};
  std::uint64_t deadline = op.patience ? nodes_[thread.node].now_ns + op.patience : chunks::kNever;
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  switch (op.kind) {
    case ChunkOpKind::kCreate:
      create(t, op);
      return;
    case ChunkOpKind::kCreateOther:
      step(thread.node, chunks::Create{chunk.name, 999, chunks::Coherence::kInvalidate, waiter});
      return;
    case ChunkOpKind::kFind:
      if (thread.unplaced[op.chunk]) return create(t, op);
      step(thread.node, chunks::Find{chunk.name, true, deadline, waiter});
      return;
    case ChunkOpKind::kFindNothing:
      step(thread.node, chunks::Find{"nothing", op.patience > 0, deadline, waiter});
      return;
    case ChunkOpKind::kSubscribe:
      step(thread.node,
           chunks::Subscribe{thread.id[op.chunk], op.policy, op.window, waiter, op.range});
      return;
    case ChunkOpKind::kTake:
    case ChunkOpKind::kTakeAll:
      step(thread.node, chunks::Take{thread.id[op.chunk], op.wait, deadline, waiter});
      return;
    case ChunkOpKind::kHint:
      step(thread.node, chunks::Hint{thread.id[op.chunk], op.coherence, deadline, waiter});
      return;
    default:
      step(thread.node, chunks::Open{thread.id[op.chunk], op.mode, op.wait, deadline, waiter});
      return;
  }
}

// A chunk without a home gets it at a thread that is about to subscribe. Other threads wait for it.
void ChunkHistory::create(std::uint32_t t, const ChunkOp& op) {
  using Unplaced = chunks::Create::Unplaced;
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  Thread& thread = threads_[t];
  chunks::Create event{chunk.name, 8 * chunk.words, chunk.coherence, protocol::WaiterId{t}};
  if (!thread.refused[op.chunk]) event.home = chunk.home;
  const std::vector<ChunkOp>& ops = program_->ops[t];
  bool subscribes = std::any_of(ops.begin(), ops.end(), [](const ChunkOp& one) {
    return one.kind == ChunkOpKind::kSubscribe;
  });
  if (thread.unplaced[op.chunk]) event.unplaced = subscribes ? Unplaced::kHere : Unplaced::kWait;
  step(thread.node, event);
}

void ChunkHistory::work(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  std::span<std::uint64_t> words = this->words(thread.node, thread.id[c], thread.place[c]);
  if (op.mode == Mode::kRead) {
    if (!thread.stale[c]) checker_.looks(t, c, thread.version[c], words);
    return;
  }
  std::uint32_t& at = thread.at[c];
  if (at < words.size()) words[at++] = thread.stamp[c];
}

void ChunkHistory::close(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  thread.open[c] = false;
  std::span<std::uint64_t> words = this->words(thread.node, thread.id[c], thread.place[c]);
  if (op.mode == Mode::kRead) {
    if (!thread.stale[c]) checker_.looks(t, c, thread.version[c], words);
  } else {
    for (std::uint32_t w = thread.at[c]; w < words.size(); ++w) words[w] = thread.stamp[c];
  }
  if (!thread.stale[c]) checker_.closed(t, c, op.mode, thread.stamp[c], op.range);
  thread.stale[c] = false;
  step(thread.node, chunks::Close{thread.id[c], op.mode, thread.place[c], op.range});
  if (program_->all[c].meeting) came(t, c);
}

void ChunkHistory::close_take(std::uint32_t t, std::uint32_t chunk) {
  close(t, {.kind = ChunkOpKind::kClose, .chunk = static_cast<std::uint8_t>(chunk)});
}

bool ChunkHistory::writers_done(std::uint32_t chunk) const {
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    for (std::size_t i = threads_[t].next;
         !nodes_[threads_[t].node].dead() && i < program_->ops[t].size(); ++i) {
      const ChunkOp& op = program_->ops[t][i];
      if (op.kind == ChunkOpKind::kClose && op.chunk == chunk && op.mode != Mode::kRead)
        return false;
    }
  return true;
}

void ChunkHistory::resume(std::uint32_t n, const chunks::Resume& resume) {
  std::uint32_t t = resume.waiter.value;
  if (t == kLeaver + n && nodes_[n].leaves && nodes_[n].alive) return left(n);
  if (t >= threads_.size() || threads_[t].node != n || !threads_[t].waits)
    violated(Fault::kBadAnswer, "node {} resumes {}, who does not wait", n, t);
  Thread& thread = threads_[t];
  const ChunkOp& op = program_->ops[t][thread.next];
  if (trace_)
    trace_->add(schedule_.picks(), "node {} thread {}: {} -> {}, version {}", n, t, describe(op),
                name_of(resume.status), resume.version);
  if (nodes_[n].undead) return resume_undead(t, resume);
  note(t << 8 | static_cast<std::uint32_t>(resume.status));
  thread.waits = false;
  bool again = op.kind == ChunkOpKind::kTakeAll || op.kind == ChunkOpKind::kMeet;
  bool asks_again = learn_no_home(thread, op, resume);
  if (!again && !asks_again) ++thread.next;
  if (!nodes_[n].leaves) wake(t);
  if (t == hushed_) end_hush();
  if (op.kind == ChunkOpKind::kMeet || op.kind == ChunkOpKind::kJoinMeeting)
    return met(t, op, resume);
  bool ended = nodes_[n].leaves && resume.status == Status::kNotSubscribed;
  if (!ended && !asks_again && !allowed(op, resume.status))
    violated(Fault::kBadAnswer, "thread {}: {} answers {}", t, describe(op),
             name_of(resume.status));
  if (op.kind == ChunkOpKind::kSubscribe) {
    thread.subscribed = resume.status == Status::kOk;
    if (thread.subscribed) checker_.subscribed(t, op.chunk, op.policy, op.range);
  } else if (op.kind == ChunkOpKind::kTake || op.kind == ChunkOpKind::kTakeAll) {
    if (resume.status == Status::kOk) took(t, op, resume);
    if (resume.status == Status::kNotSubscribed) thread.subscribed = false;
  } else if (asks_again) {
    return;
  } else if (op.kind != ChunkOpKind::kOpen) {
    learn(t, op, resume);
  } else if (resume.status == Status::kOk) {
    ++outcome_.scopes;
    thread.open[op.chunk] = true;
    thread.at[op.chunk] = 0;
    thread.version[op.chunk] = resume.version;
    thread.mode[op.chunk] = op.mode;
    thread.place[op.chunk] = resume.place;
    const chunks::ChunkHome::Entry* entry = at_home(op.chunk);
    bool newest =
        op.mode != Mode::kRead || (entry && entry->coherence == chunks::Coherence::kInvalidate);
    if (pushed_death(op.chunk) && newest && resume.version < checker_.last_version(op.chunk))
      checker_.truncate(op.chunk, resume.version);
    thread.stamp[op.chunk] = static_cast<std::uint64_t>(t + 1) << 32 | ++thread.stamps;
    checker_.opened(t, op.chunk, op.mode, resume.version, words(n, resume.chunk, resume.place));
    if (program_->all[op.chunk].meeting) come(t, op.chunk);
  }
}

// Whether the thread must ask once more: the chunk has no home, or its home is not in the view.
bool ChunkHistory::learn_no_home(Thread& thread, const ChunkOp& op, const chunks::Resume& resume) {
  if (op.kind != ChunkOpKind::kCreate && op.kind != ChunkOpKind::kFind) return false;
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  bool by_node = chunk.home != chunks::kHomeByName && chunk.home != chunks::kHomeAtFirst;
  bool unplaced = resume.status == Status::kUnplaced && !thread.unplaced[op.chunk] &&
                  chunk.home == chunks::kHomeAtFirst;
  bool refused =
      resume.status == Status::kUnknown && (by_node || deaths_ > 0 || !program_->leaves.empty());
  if (unplaced && (resume.changed.bytes != 8 * chunk.words ||
                   resume.version != static_cast<std::uint64_t>(chunk.coherence)))
    violated(Fault::kBadAnswer, "chunk {} without a home is told to be another", op.chunk);
  thread.unplaced[op.chunk] |= unplaced;
  thread.refused[op.chunk] |= refused;
  return unplaced || refused;
}

bool ChunkHistory::allowed(const ChunkOp& op, Status status) const {
  // A pushed chunk is lost with its home.
  bool gone = pushed_death(op.chunk);
  switch (op.kind) {
    case ChunkOpKind::kCreate:
      return status == Status::kOk || status == Status::kExisted;
    case ChunkOpKind::kCreateOther:
      return status == Status::kMismatch;
    case ChunkOpKind::kFind:
      return status == Status::kOk || status == Status::kExisted;
    case ChunkOpKind::kFindNothing:
      return status == (op.patience ? Status::kTimedOut : Status::kUnknown);
    case ChunkOpKind::kSubscribe:
      return status == Status::kOk || status == Status::kNoMemory ||
             (gone && status == Status::kUnknown) ||
             (program_->all[op.chunk].changes && status == Status::kMismatch);
    case ChunkOpKind::kHint:
      return status == Status::kOk || (op.patience > 0 && status == Status::kTimedOut) ||
             (gone && status == Status::kUnknown);
    default:
      if (status == Status::kWritten) return may_be_written(op);
      if (status == Status::kNotSubscribed && op.kind != ChunkOpKind::kOpen)
        return gone || program_->all[op.chunk].changes;
      return status == Status::kOk || (status == Status::kBusy && op.wait == chunks::Wait::kTry) ||
             (status == Status::kTimedOut && op.patience > 0) ||
             (status == Status::kNoMemory && op.kind == ChunkOpKind::kOpen) ||
             (gone && status == (op.kind == ChunkOpKind::kOpen ? Status::kUnknown
                                                               : Status::kNotSubscribed));
  }
}

// Whether the scope may be refused because the chunk has been written once.
bool ChunkHistory::may_be_written(const ChunkOp& op) const {
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  return op.kind == ChunkOpKind::kOpen && op.mode != Mode::kRead &&
         checker_.last_version(op.chunk) > 0 &&
         (chunk.changes || chunk.coherence == chunks::Coherence::kOnce);
}

const chunks::ChunkHome::Entry* ChunkHistory::at_home(std::uint32_t chunk) const {
  NodeId node = chunks::home_of(ids_[chunk], views_.back());
  if (node.value >= nodes_.size()) return nullptr;
  const chunks::ChunkHome& home = nodes_[node.value].machine->home();
  return home.rebuilding(ids_[chunk]) ? nullptr : home.entry(ids_[chunk]);
}

void ChunkHistory::took(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  ++outcome_.scopes;
  thread.open[op.chunk] = true;
  thread.mode[op.chunk] = Mode::kRead;
  thread.version[op.chunk] = resume.version;
  thread.place[op.chunk] = resume.place;
  checker_.took(t, op.chunk, resume.version, resume.missed, resume.changed,
                words(thread.node, resume.chunk, resume.place));
}

void ChunkHistory::learn(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  if (op.kind != ChunkOpKind::kCreate && op.kind != ChunkOpKind::kFind) return;
  if (index_of(resume.chunk) != op.chunk)
    violated(Fault::kBadAnswer, "thread {}: {} answers another chunk", t, describe(op));
  if (std::erase(unheard_, resume.chunk) > 0) holds_from_now_on(resume.chunk, op.chunk);
  for (const Thread& other : threads_)
    if (!pushed_death(op.chunk) && nodes_[other.node].alive &&
        other.id[op.chunk] != chunks::kNoChunk && other.id[op.chunk] != resume.chunk)
      violated(Fault::kBadAnswer, "chunk {} is two chunks", op.chunk);
  threads_[t].id[op.chunk] = resume.chunk;
}

}  // namespace terrane::sim
