// What a home does when nodes die: it forgets them. If it succeeds a home, it rebuilds the
// directory from the reports of the clients.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

void ChunkHome::view_changed(std::uint32_t before) {
  std::vector<NodeId> members = view_.members;
  members.swap(members_);
  for (NodeId node : members)
    if (!view_.has(node)) bury(node);
  bury_work();
  for (const auto& [id, entry] : entries_)  // perhaps no client knows the chunk
    tell_placement(ChunkId{id}, entry.name, view_, before, outbox_);
  for (std::uint32_t s = 0; s < view_.slots.size(); ++s) {
    const View::Slot& slot = view_.slots[s];
    TERRANE_CHECK(slot.home == outbox_.self() || rebuilds_.count(s) == 0,
                  "a slot leaves its home only with that node's death");
    if (slot.home != outbox_.self() || slot.since == 0 || slot.since <= before) continue;
    rebuilds_[s].awaited = view_.members;
  }
  for (auto& [slot, rebuild] : rebuilds_) {
    if (rebuild.awaited.empty()) continue;
    std::erase_if(rebuild.awaited, [&](NodeId node) { return !view_.has(node); });
    if (!rebuild.awaited.empty()) continue;
    mark(Mark::kRebuildWaitsForNobody);
    complete(slot, rebuild);
  }
}

// ---- The dead

void ChunkHome::bury(NodeId dead) {
  placements_.forget_finders(dead);
  for (auto& [id, entry] : entries_) bury(ChunkId{id}, entry, dead);
}

void ChunkHome::bury(ChunkId id, Entry& entry, NodeId dead) {
  if (entry.works()) return;
  // If some nodes have changed to the new coherence, all have to: the request stays.
  std::erase_if(entry.queue, [&](const Entry::Request& r) { return r.node == dead && !r.begun; });
  std::erase_if(entry.early, [&](const auto& early) { return early.first == dead; });
  std::erase_if(entry.candidates, [&](const Entry::Candidate& c) { return c.node == dead; });
  std::erase_if(entry.subscribers, [&](const Entry::Subscriber& s) {
    if (s.node == dead) mark(Mark::kDeadSubscriber);
    return s.node == dead;
  });
  forget_pushed(id, entry);
  auto in = [&](std::vector<NodeId>& nodes) {
    return std::erase_if(nodes, [&](NodeId node) { return node == dead; }) > 0;
  };
  if (in(entry.sharers)) mark(Mark::kDeadSharer);
  if (entry.owner == dead && !mutant(Mutant::kDeadStillOwner)) owner_died(id, entry);
  if (!entry.active) return serve(id, entry);
  if (!entry.fetching && entry.serving.node == dead) {
    mark(Mark::kDeadServed);
    entry.serving.cancelled = true;
  }
  if (mutant(Mutant::kDeadStillAwaited) || !in(entry.awaited)) return;
  mark(Mark::kDeadAwaited);
  if (!entry.awaited.empty()) return;
  if (entry.fetching) {
    fetched(id, entry, dead, {});
  } else {
    finish(id, entry);
    serve(id, entry);
  }
}

// What the owner wrote, and no other node has, is lost. Of a pushed chunk that is only an open
// scope.
void ChunkHome::owner_died(ChunkId id, Entry& entry) {
  entry.owner = kNoNode;
  if (entry.coherence != Coherence::kInvalidate) {
    mark(Mark::kDeadWriter);
    return;
  }
  mark(Mark::kDeadOwner);
  if (entry.valid) {
    if (!mutant(Mutant::kLossUntold)) outbox_.lost(id, entry.name, entry.version, entry.version);
  } else {
    ++entry.version;
    entry.restored = true;
    if (!entry.active) fetch(id, entry);
  }
}

// ---- Slots that came here

bool ChunkHome::report(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = rebuilds_.find(static_cast<std::uint32_t>(message.chunk >> 52));
  if (at == rebuilds_.end() || tail.empty() || tail.size() > kMaxNameBytes) return false;
  if (message.mode > static_cast<std::uint8_t>(State::kModified) ||
      message.bytes > kMaxChunkBytes || message.coherence > static_cast<int>(Coherence::kWork))
    return false;
  bool works = message.coherence == static_cast<std::uint8_t>(Coherence::kWork);
  if (!works && message.turn > static_cast<std::uint32_t>(Coherence::kOnce)) return false;
  std::vector<NodeId>& awaited = at->second.awaited;
  if (std::find(awaited.begin(), awaited.end(), from) == awaited.end()) return false;
  std::string name(reinterpret_cast<const char*>(tail.data()), tail.size());
  if (at->first < view_.name_slots() && slot_of(name, view_) != at->first) return false;
  if (flag(message, wire::kGoneFlag)) {
    Rebuild::Gone& gone = at->second.gone[message.chunk];
    gone.name = std::move(name);
    gone.told |= flag(message, wire::kToldFlag);
    return true;
  }
  if (works) return report_work(message, std::move(name));
  // A node that has stepped back reports the copy that it had before the change.
  auto reported = static_cast<Coherence>(message.coherence);
  bool changing = flag(message, wire::kChangingFlag);
  Coherence coherence = changing ? Coherence::kInvalidate : reported;
  // Of two chunks of one name the older one is gone; the reporting node has not heard of that yet.
  std::uint64_t& known = names_.try_emplace(Name{at->first, name}, message.chunk).first->second;
  known = std::max(known, message.chunk);
  auto [place, fresh] = entries_.try_emplace(message.chunk);
  Entry& entry = place->second;
  if (fresh) {
    entry.name = name;
    entry.bytes = message.bytes;
    entry.coherence = coherence;
    entry.made = static_cast<Coherence>(message.turn);
    entry.valid = false;
    used_bytes_ = std::min(memory_bytes_, used_bytes_ + entry.bytes);
  } else if (entry.bytes != message.bytes) {
    return false;
  } else if (coherence != Coherence::kInvalidate) {
    entry.coherence = coherence;  // the pushed versions died with the home
  }
  if (changing && reported != Coherence::kInvalidate) entry.begun = reported;
  entry.version = std::max(entry.version, message.version);
  entry.candidates.push_back({.node = from,
                              .state = static_cast<State>(message.mode),
                              .version = message.version,
                              .bytes = flag(message, wire::kBytesFlag),
                              .coherence = coherence});
  return true;
}

bool ChunkHome::report_end(NodeId from, const ChunkMessage& message) {
  auto slot = static_cast<std::uint32_t>(message.chunk);
  auto at = rebuilds_.find(slot);
  if (at == rebuilds_.end()) {  // a guest may report to a node slot that was not rebuilt: its node
                                // left with no chunk placed there
    outbox_.send(from, {.kind = ChunkKind::kServing, .chunk = slot});
    return true;
  }
  Rebuild& rebuild = at->second;
  rebuild.reporters.push_back(from);
  bool waited = std::erase_if(rebuild.awaited, [&](NodeId node) { return node == from; }) > 0;
  if (waited && rebuild.awaited.empty()) {
    complete(slot, rebuild);
  } else {
    tell_serving(slot);
  }
  return true;
}

void ChunkHome::complete(std::uint32_t slot, Rebuild& rebuild) {
  mark(Mark::kRebuilt);
  for (const auto& [id, gone] : rebuild.gone) {
    // If some nodes know that the chunk is gone, it is gone for all.
    if (auto at = entries_.find(id); at != entries_.end()) {
      mark(Mark::kRebuiltGoneForAll);
      at->second.coherence = Coherence::kUpdate;
    } else if (!gone.told) {
      mark(Mark::kRebuiltTellsGone);
      outbox_.lost(ChunkId{id}, gone.name, Lost::kNothing, 0);
    }
  }
  rebuild.gone.clear();
  bury_work();
  for (auto at = entries_.lower_bound(std::uint64_t{slot} << 52);
       at != entries_.end() && at->first >> 52 == slot;) {
    Entry& entry = at->second;
    if (entry.works()) {
      ++at;
      continue;
    }
    const Name name{slot, entry.name};
    bool newest = names_[name] == at->first;
    if (entry.coherence != Coherence::kInvalidate || !newest) {
      mark(Mark::kRebuiltLosesPushed);
      outbox_.lost(ChunkId{at->first}, entry.name, Lost::kNothing, entry.version);
      for (const Entry::Candidate& one : entry.candidates)
        if (one.coherence == Coherence::kInvalidate)
          outbox_.send(one.node, {.kind = ChunkKind::kGone, .chunk = at->first});
      if (newest) names_.erase(name);
      used_bytes_ -= std::min(used_bytes_, entry.bytes);
      at = entries_.erase(at);
      continue;
    }
    if (entry.begun) {
      mark(Mark::kRebuiltChanging);
      entry.queue.push_front({.node = kNoNode, .hint = entry.begun});
      entry.begun.reset();
    }
    settle(ChunkId{at->first}, entry);
    if (!entry.active) serve(ChunkId{at->first}, entry);
    ++at;
  }
  while (!rebuild.deferred.empty()) {
    const Rebuild::Deferred& d = served_.emplace_back(std::move(rebuild.deferred.front()));
    rebuild.deferred.pop_front();
    if (view_.has(d.from) && !received(d.from, d.message, d.tail)) outbox_.malformed(d.from);
  }
  tell_serving(slot);
}

// Finds the nodes with the last version: the owner, or any sharer. If there is neither, older bytes
// are taken, under a version number that no node has seen.
void ChunkHome::settle(ChunkId id, Entry& entry) {
  std::vector<Entry::Candidate>& all = entry.candidates;
  auto newer = [](const auto& a, const auto& b) {
    if (a.version == b.version) return a.node.value < b.node.value;
    return (a.version > b.version) != mutant(Mutant::kRestoreOldest);
  };
  std::sort(all.begin(), all.end(), newer);
  for (const Entry::Candidate& one : all) {
    bool owns = one.state == State::kExclusive || one.state == State::kModified;
    if (owns && entry.owner == kNoNode && !mutant(Mutant::kOwnerForgotten)) {
      entry.owner = one.node;
    } else if (one.state != State::kInvalid) {
      entry.sharers.push_back(one.node);
    }
  }
  std::sort(entry.sharers.begin(), entry.sharers.end());
  if (entry.owner != kNoNode) {
    mark(Mark::kRebuiltFromOwner);
    entry.sharers.clear();  // there are none, unless a report is wrong
  } else if (!entry.sharers.empty()) {
    mark(Mark::kRebuiltFromSharer);
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      bool valid = a.state != State::kInvalid;
      return valid != (b.state != State::kInvalid) ? valid : newer(a, b);
    });
  } else {
    ++entry.version;
    entry.restored = true;
  }
  std::erase_if(all, [&](const auto& c) { return !c.bytes || c.node == entry.owner; });
  if (entry.owner == kNoNode) fetch(id, entry);
}

// ---- Bytes that other nodes have

void ChunkHome::fetch(ChunkId id, Entry& entry) {
  if (entry.candidates.empty()) {
    restore_nothing(id, entry);
    return;
  }
  // The nodes that had the last version have died since they reported.
  if (!entry.restored && entry.candidates.front().version < entry.version) {
    ++entry.version;
    entry.restored = true;
    entry.sharers.clear();
  }
  entry.active = true;
  entry.fetching = true;
  ++entry.turn;
  entry.awaited = {entry.candidates.front().node};
  ChunkMessage message{.kind = ChunkKind::kRecall};
  message.mode = static_cast<std::uint8_t>(wire::RecallMode::kCopy);
  message.chunk = id.value;
  message.turn = entry.turn;
  outbox_.send(entry.awaited.front(), message);
}

void ChunkHome::fetched(ChunkId id, Entry& entry, NodeId from, const ChunkMessage& message) {
  entry.active = false;
  entry.fetching = false;
  if (!entry.valid) {
    mark(Mark::kFetchNextCandidate);
    std::erase_if(entry.candidates, [&](const auto& c) { return c.node == from; });
    fetch(id, entry);
    return;
  }
  if (entry.restored && !mutant(Mutant::kLossUntold)) {
    mark(Mark::kRebuiltFromOldBytes);
    outbox_.lost(id, entry.name, message.version, entry.version);
  }
  entry.restored = false;
  entry.candidates.clear();
  serve(id, entry);
  tell_serving(static_cast<std::uint32_t>(id.value >> 52));
}

void ChunkHome::restore_nothing(ChunkId id, Entry& entry) {
  mark(Mark::kRebuiltFromNothing);
  // Sharers that died after they reported may have been the last nodes with this version.
  if (!entry.restored) ++entry.version;
  entry.sharers.clear();
  outbox_.discard(id);  // bytes that this node's client has dropped may still be there
  outbox_.provide(id, entry.bytes);
  entry.valid = true;
  entry.restored = false;
  outbox_.lost(id, entry.name, Lost::kNothing, entry.version);
  serve(id, entry);
  tell_serving(static_cast<std::uint32_t>(id.value >> 52));
}

// Notifies the reporters that their copies are not needed any more, once no bytes have to be
// fetched.
void ChunkHome::tell_serving(std::uint32_t slot) {
  auto at = rebuilds_.find(slot);
  if (at == rebuilds_.end() || !at->second.awaited.empty()) return;
  for (auto it = entries_.lower_bound(std::uint64_t{slot} << 52);
       it != entries_.end() && it->first >> 52 == slot; ++it)
    if (it->second.fetching) return;
  for (NodeId reporter : at->second.reporters)
    outbox_.send(reporter, {.kind = ChunkKind::kServing, .chunk = slot});
  at->second.reporters.clear();
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
