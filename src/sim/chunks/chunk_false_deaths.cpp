// Nodes that are declared dead but continue: their host was silent for too long, say, or the
// process was stopped. The launcher ends such a node, but not at once. Nodes that know of its death
// refuse its messages. The operations of its own threads no longer count.

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

// Of all nodes that are dead and go on: what one of them does may reach another one, which is told
// of no more deaths, and through it a node that does not know of that one's death.
bool ChunkHistory::all_know_of_deaths() const {
  std::size_t last = 0;
  for (const Node& node : nodes_)
    if (node.undead) last = std::max(last, node.dead_in);
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [last](const Node& node) { return !node.alive || node.views >= last; });
}

// Its threads act only when all living nodes know of its death. Otherwise their actions could reach
// a node that does not know.
void ChunkHistory::lead_undead(std::uint32_t n) {
  Node& node = nodes_[n];
  if (!node.acts && all_know_of_deaths()) {
    node.acts = true;
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      if (threads_[t].node == n && !threads_[t].waits) schedule_.ready(static_cast<ActorId>(t));
  }
  if (schedule_.picks() < node.ends_at) return;
  if (trace_) trace_->add(schedule_.picks(), "node {} ends", n);
  end(n);
}

// Whether the thread may do this: use scopes of chunks that it knows. It could learn of other
// chunks only from other nodes.
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

// Its scopes are treated as those of a chunk that has died: their content is not checked.
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
