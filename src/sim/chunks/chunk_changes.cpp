// Nodes that die, join and leave, and chunks that are lost.

#include <algorithm>

#include "sim/chunks/chunk_history.h"

namespace terrane::sim {

void ChunkHistory::changes() {
  for (const ChunkProgram::Change& death : program_->deaths)
    if (schedule_.picks() >= death.step && nodes_[death.node].alive)
      death.goes_on ? declare_dead(death) : kill(death.node);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].undead) lead_undead(n);
  for (std::uint32_t n = 0; schedule_.empty() && n < nodes_.size(); ++n)
    if (nodes_[n].undead) end(n);  // it waits for ever
  for (const ChunkProgram::Change& join : program_->joins)
    if ((schedule_.picks() >= join.step || schedule_.empty()) && nodes_[join.node].views == 0)
      this->join(join.node);
  for (const ChunkProgram::Change& leave : program_->leaves)
    if ((schedule_.picks() >= leave.step || schedule_.empty()) && may_leave(leave.node))
      this->leave(leave.node);
}

// Of the node's messages under way, those to one receiver all arrive, or none.
void ChunkHistory::kill(std::uint32_t n) {
  if (trace_) trace_->add(schedule_.picks(), "node {} dies", n);
  forget(n);
  end(n);
  publish_view();
}

// The operations and open scopes of its threads no longer count.
void ChunkHistory::forget(std::uint32_t n) {
  ++deaths_;
  nodes_[n].alive = false;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].node != n) continue;
    schedule_.park(static_cast<ActorId>(t));
    for (std::uint32_t c = 0; c < kMaxChunks; ++c) {
      if (!threads_[t].open[c]) continue;
      if (!threads_[t].stale[c]) checker_.died(c, threads_[t].mode[c]);
      threads_[t].stale[c] = true;
    }
  }
  schedule_.park(static_cast<ActorId>(kFirstNews + n));
  if (hushed_ != kNobody && threads_[hushed_].node == n) end_hush();
  checker_.forget_node(n);
}

void ChunkHistory::end(std::uint32_t n) {
  nodes_[n].undead = false;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].node != n) continue;
    schedule_.park(static_cast<ActorId>(t));
    threads_[t].waits = false;
  }
  schedule_.park(static_cast<ActorId>(kFirstClock + n));
  for (std::uint32_t m = 0; m < program_->nodes; ++m) {
    std::uint32_t channel = network_.channel(n, m);
    if (!rng_.chance(50)) continue;
    while (!network_.empty(channel)) network_.pop(channel);
    schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  }
}

void ChunkHistory::join(std::uint32_t n) {
  ++joins_;
  nodes_[n].alive = true;
  if (trace_) trace_->add(schedule_.picks(), "node {} joins", n);
  publish_view();
  tell(n);
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].node == n) wake(t);
}

// Whether the node may leave: its home is not needed, no thread has an open scope, and none waits
// for anything but a version.
bool ChunkHistory::may_leave(std::uint32_t n) const {
  if (!nodes_[n].alive || nodes_[n].leaves || hushed_ != kNobody) return false;
  if (nodes_[n].machine->home().is_needed()) return false;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    const Thread& thread = threads_[t];
    if (thread.node != n) continue;
    if (std::find(thread.open.begin(), thread.open.end(), true) != thread.open.end()) return false;
    if (!thread.waits) continue;
    ChunkOpKind kind = program_->ops[t][thread.next].kind;
    if (kind != ChunkOpKind::kTake && kind != ChunkOpKind::kTakeAll) return false;
  }
  return true;
}

void ChunkHistory::leave(std::uint32_t n) {
  if (trace_) trace_->add(schedule_.picks(), "node {} wants to leave", n);
  nodes_[n].leaves = true;
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].node == n) schedule_.park(static_cast<ActorId>(t));
  step(n, chunks::Leave{protocol::WaiterId{kLeaver + n}});
}

// Its messages are still delivered, or ignored by a receiver that knows that it has left.
void ChunkHistory::left(std::uint32_t n) {
  if (trace_) trace_->add(schedule_.picks(), "node {} has left", n);
  nodes_[n].alive = false;
  nodes_[n].left = true;
  schedule_.park(static_cast<ActorId>(kFirstClock + n));
  schedule_.park(static_cast<ActorId>(kFirstNews + n));
  checker_.forget_node(n);
  publish_view();
}

// The next living server takes over the slots of a node that has died or left. A node that left had
// no chunks.
void ChunkHistory::publish_view() {
  chunks::View view = views_.back();
  ++view.epoch;
  view.members.clear();
  for (std::uint32_t n = 0; n < program_->nodes; ++n)
    if (nodes_[n].alive) view.members.push_back(NodeId{n});
  for (chunks::View::Slot& slot : view.slots) {
    // A node that has not joined yet keeps its slots; no node asks it.
    if (nodes_[slot.home.value].alive || nodes_[slot.home.value].views == 0) continue;
    bool left = nodes_[slot.home.value].left;
    while (!nodes_[slot.home.value].alive)
      slot.home = NodeId{(slot.home.value + 1) % program_->servers};
    if (!left) slot.since = view.epoch;
  }
  views_.push_back(view);
  for (std::uint32_t n = 0; n < program_->nodes; ++n)
    if (nodes_[n].alive && nodes_[n].views > 0)
      schedule_.ready(static_cast<ActorId>(kFirstNews + n));
}

// Reports the next view to the node, or the last one. The first report is always the last view.
void ChunkHistory::tell(std::uint32_t n) {
  std::size_t& views = nodes_[n].views;
  views = views == 0 || rng_.chance(30) ? views_.size() : views + 1;
  if (trace_) trace_->add(schedule_.picks(), "node {} is told of view {}", n, views);
  step(n, chunks::ViewChanged{&views_[views - 1]});
  if (views == views_.size()) schedule_.park(static_cast<ActorId>(kFirstNews + n));
}

void ChunkHistory::lost(std::uint32_t n, const chunks::Lost& lost) {
  if (nodes_[n].acts) return;  // no living node hears it
  std::uint32_t c = index_of(lost.chunk);
  if (trace_)
    trace_->add(schedule_.picks(), "chunk {}: version {} is from now on {}", c, lost.from,
                lost.version);
  if (deaths_ == 0) violated(Fault::kWrongValue, "chunk {} is told to be lost: nobody died", c);
  if (lost.name != program_->all[c].name)
    violated(Fault::kBadAnswer, "chunk {} is told to be {}", c, lost.name);
  // Another chunk has the name now: only dead nodes knew this one, of which a report came late.
  bool is_former = ids_[c] != chunks::kNoChunk && ids_[c] != lost.chunk;
  // The node that reports the loss is the chunk's home. It has no entry if the chunk is gone. If
  // the chunk was restored, it may have become pushed in the same step.
  if (is_former || nodes_[n].machine->home().entry(lost.chunk) == nullptr) {
    gone_.push_back(lost.chunk);
    return;
  }
  for (const Node& node : nodes_) {
    const chunks::ChunkCache::Copy* copy =
        node.alive ? node.machine->cache().copy(lost.chunk) : nullptr;
    if (!copy || copy->pushed() || !copy->has_bytes || copy->version >= lost.version) continue;
    if (lost.from == chunks::Lost::kNothing || copy->version > lost.from)
      violated(Fault::kWrongValue, "chunk {} goes back to {} though version {} is left", c,
               lost.from, copy->version);
  }
  checker_.lost(c, lost.from, lost.version);
}

// The home of a pushed chunk has died: this must have been reported, unless only dead nodes knew
// the chunk.
void ChunkHistory::check_told(std::uint32_t c) const {
  if (std::find(gone_.begin(), gone_.end(), ids_[c]) != gone_.end()) return;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].alive && nodes_[n].machine->cache().copy(ids_[c]) != nullptr)
      violated(Fault::kWrongValue, "chunk {}, which node {} knows, is gone, and nobody says so", c,
               n);
}

bool ChunkHistory::pushed_death(std::uint32_t chunk) const {
  return deaths_ > 0 && program_->all[chunk].pushed();
}

// Versions that had not reached the home are lost.
void ChunkHistory::truncate_to_home(std::uint32_t chunk) {
  NodeId home = chunks::home_of(ids_[chunk], views_.back());
  const chunks::ChunkHome::Entry* entry = nodes_[home.value].machine->home().entry(ids_[chunk]);
  if (entry && entry->version < checker_.last_version(chunk))
    checker_.truncate(chunk, entry->version);
}

}  // namespace terrane::sim
