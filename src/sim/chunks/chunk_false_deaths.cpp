// Nodes that are declared dead and go on: a host that was silent for too long, say, or a process
// that was stopped. Its launcher ends it, but not at once. What the others hear of it once they
// know of its death they refuse; what its own threads do counts no more.

#include <algorithm>

#include "sim/chunks/chunk_history.h"

namespace terrane::sim {

using chunks::Status;

void ChunkHistory::declare_dead(const ChunkProgram::Change& death) {
  std::uint32_t n = death.node;
  if (trace_) trace_->add(schedule_.picks(), "node {} is declared dead, and goes on", n);
  forget(n);
  nodes_[n].undead = true;
  nodes_[n].acts = false;
  nodes_[n].ends_at = schedule_.picks() + death.goes_on;
  publish_view();
  nodes_[n].dead_in = views_.size();
}

bool ChunkHistory::all_know_of(std::uint32_t n) const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return !node.alive || node.views >= nodes_[n].dead_in;
  });
}

// Before all others know, its threads do nothing: what they did could reach one that does not.
void ChunkHistory::lead_undead(std::uint32_t n) {
  Node& node = nodes_[n];
  if (!node.acts && all_know_of(n)) {
    node.acts = true;
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      if (threads_[t].node == n && !threads_[t].waits) schedule_.ready(static_cast<ActorId>(t));
  }
  if (schedule_.picks() < node.ends_at) return;
  if (trace_) trace_->add(schedule_.picks(), "node {} ends", n);
  end(n);
}

// Scopes of what it knows. Others' chunks it could only come to know by others.
bool ChunkHistory::may_act(std::uint32_t t, const ChunkOp& op) const {
  switch (op.kind) {
    case ChunkOpKind::kOpen:
    case ChunkOpKind::kWork:
    case ChunkOpKind::kClose:
    case ChunkOpKind::kTake:
    case ChunkOpKind::kEndTake:
    case ChunkOpKind::kDrop:
    case ChunkOpKind::kHint:
      return threads_[t].id[op.chunk] != chunks::kNoChunk;
    default:
      return false;
  }
}

// Its scopes are as those of a chunk that has died: nobody checks what they show.
void ChunkHistory::resume_undead(std::uint32_t t, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  const ChunkOp& op = program_->ops[t][thread.next];
  thread.waits = false;
  ++thread.next;
  bool takes = op.kind == ChunkOpKind::kTake || op.kind == ChunkOpKind::kTakeAll;
  if (resume.status == Status::kOk && (takes || op.kind == ChunkOpKind::kOpen)) {
    thread.open[op.chunk] = thread.stale[op.chunk] = true;
    thread.at[op.chunk] = 0;
    thread.version[op.chunk] = resume.version;
    thread.mode[op.chunk] = takes ? chunks::Mode::kRead : op.mode;
    thread.place[op.chunk] = resume.place;
    thread.stamp[op.chunk] = static_cast<std::uint64_t>(t + 1) << 32 | ++thread.stamps;
  }
  if (nodes_[thread.node].acts) wake(t);
}

}  // namespace terrane::sim
