#include "protocol/chunks/slot_rebuilds.h"

#include <algorithm>

#include "protocol/chunks/slots.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using Candidate = HomeEntry::Recovery::Candidate;

bool SlotRebuilds::awaits_reports(std::uint32_t slot) const {
  auto at = rebuilds_.find(slot);
  return at != rebuilds_.end() && !at->second.awaited.empty();
}

std::vector<std::uint32_t> SlotRebuilds::view_changed(std::uint32_t before) {
  for (std::uint32_t s = 0; s < view_.slots.size(); ++s) {
    const View::Slot& slot = view_.slots[s];
    TERRANE_CHECK(slot.home == outbox_.self() || rebuilds_.count(s) == 0,
                  "a slot leaves its home only with that node's death");
    if (slot.home != outbox_.self() || slot.since == 0 || slot.since <= before) continue;
    rebuilds_[s].awaited = view_.members;
  }
  std::vector<std::uint32_t> ready;
  for (auto& [slot, rebuild] : rebuilds_) {
    if (rebuild.awaited.empty()) continue;
    std::erase_if(rebuild.awaited, [&](NodeId node) { return !view_.has(node); });
    if (!rebuild.awaited.empty()) continue;
    mark(Mark::kRebuildWaitsForNobody);
    ready.push_back(slot);
  }
  return ready;
}

void SlotRebuilds::defer(std::uint32_t slot, NodeId from, const ChunkMessage& message, Bytes tail) {
  mark(Mark::kRebuildDefers);
  rebuilds_[slot].deferred.push_back({from, message, {tail.begin(), tail.end()}});
}

const SlotRebuilds::Deferred* SlotRebuilds::next_deferred(std::uint32_t slot) {
  std::deque<Deferred>& deferred = rebuilds_[slot].deferred;
  if (deferred.empty()) return nullptr;
  served_.push_back(std::move(deferred.front()));
  deferred.pop_front();
  return &served_.back();
}

// ---- Reports

bool SlotRebuilds::report(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = rebuilds_.find(static_cast<std::uint32_t>(message.chunk >> kSlotShift));
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
  if (works) {
    directory_.learn_work(message, std::move(name));
    return true;
  }
  // A node that has stepped back reports the copy that it had before the change.
  auto reported = static_cast<Coherence>(message.coherence);
  bool changing = flag(message, wire::kChangingFlag);
  Coherence coherence = changing ? Coherence::kInvalidate : reported;
  auto [known, fresh] = directory_.learn(ChunkId{message.chunk}, std::move(name));
  HomeEntry& entry = *known;
  if (fresh) {
    entry.bytes = message.bytes;
    entry.coherence = coherence;
    entry.made = static_cast<Coherence>(message.turn);
    entry.valid = false;
    memory_.count(entry.bytes);
  } else if (entry.bytes != message.bytes) {
    return false;
  } else if (coherence != Coherence::kInvalidate) {
    entry.coherence = coherence;  // the pushed versions died with the home
  }
  if (changing && reported != Coherence::kInvalidate) entry.recovery.begun = reported;
  entry.version = std::max(entry.version, message.version);
  entry.recovery.candidates.push_back({.node = from,
                                       .state = static_cast<State>(message.mode),
                                       .version = message.version,
                                       .bytes = flag(message, wire::kBytesFlag),
                                       .coherence = coherence});
  return true;
}

bool SlotRebuilds::report_ended(NodeId from, std::uint32_t slot) {
  auto at = rebuilds_.find(slot);
  if (at == rebuilds_.end()) {  // a guest may report to a node slot that was not rebuilt: its node
                                // left with no chunk placed there
    outbox_.send(from, {.kind = ChunkKind::kServing, .chunk = slot});
    return false;
  }
  Rebuild& rebuild = at->second;
  rebuild.reporters.push_back(from);
  bool waited = std::erase_if(rebuild.awaited, [&](NodeId node) { return node == from; }) > 0;
  if (waited && rebuild.awaited.empty()) return true;
  tell_serving(slot);
  return false;
}

// If some nodes know that a chunk is gone, it is gone for all.
void SlotRebuilds::tell_gone(Rebuild& rebuild) {
  for (const auto& [id, gone] : rebuild.gone) {
    if (HomeEntry* entry = directory_.entry(ChunkId{id})) {
      mark(Mark::kRebuiltGoneForAll);
      entry->coherence = Coherence::kUpdate;
    } else if (!gone.told) {
      mark(Mark::kRebuiltTellsGone);
      outbox_.lost(ChunkId{id}, gone.name, Lost::kNothing, 0);
    }
  }
  rebuild.gone.clear();
}

void SlotRebuilds::complete(std::uint32_t slot,
                            const std::function<void(ChunkId, HomeEntry&)>& serve) {
  mark(Mark::kRebuilt);
  tell_gone(rebuilds_[slot]);
  directory_.forget_dead_work();
  ChunkDirectory::Entries& entries = directory_.entries();
  for (auto at = entries.lower_bound(std::uint64_t{slot} << kSlotShift);
       at != entries.end() && slot_of(ChunkId{at->first}) == slot;) {
    ChunkId id{at->first};
    HomeEntry& entry = at->second;
    if (entry.works()) {
      ++at;
      continue;
    }
    if (entry.coherence != Coherence::kInvalidate || !directory_.is_newest(id, entry)) {
      mark(Mark::kRebuiltLosesPushed);
      outbox_.lost(id, entry.name, Lost::kNothing, entry.version);
      for (const Candidate& one : entry.recovery.candidates)
        if (one.coherence == Coherence::kInvalidate)
          outbox_.send(one.node, {.kind = ChunkKind::kGone, .chunk = id.value});
      memory_.give_back(entry.bytes);
      at = directory_.forget(at);
      continue;
    }
    if (entry.recovery.begun) {
      mark(Mark::kRebuiltChanging);
      entry.queue.push_front({.node = kNoNode, .hint = entry.recovery.begun});
      entry.recovery.begun.reset();
    }
    settle(entry);
    serve(id, entry);
    ++at;
  }
}

// Finds the nodes with the last version: the owner, or any sharer. If there is neither, older bytes
// are taken, under a version number that no node has seen.
void SlotRebuilds::settle(HomeEntry& entry) {
  std::vector<Candidate>& all = entry.recovery.candidates;
  auto newer = [](const auto& a, const auto& b) {
    if (a.version == b.version) return a.node.value < b.node.value;
    return (a.version > b.version) != mutant(Mutant::kRestoreOldest);
  };
  std::sort(all.begin(), all.end(), newer);
  for (const Candidate& one : all) {
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
    entry.recovery.restored = true;
  }
  std::erase_if(all, [&](const auto& c) { return !c.bytes || c.node == entry.owner; });
}

// ---- Bytes that other nodes have

bool SlotRebuilds::fetch(ChunkId id, HomeEntry& entry) {
  if (entry.recovery.candidates.empty()) {
    mark(Mark::kRebuiltFromNothing);
    // Sharers that died after they reported may have been the last nodes with this version.
    if (!entry.recovery.restored) ++entry.version;
    entry.sharers.clear();
    outbox_.discard(id);  // bytes that this node's client has dropped may still be there
    outbox_.provide(id, entry.bytes);
    entry.valid = true;
    entry.recovery.restored = false;
    outbox_.lost(id, entry.name, Lost::kNothing, entry.version);
    return true;
  }
  // The nodes that had the last version have died since they reported.
  if (!entry.recovery.restored && entry.recovery.candidates.front().version < entry.version) {
    ++entry.version;
    entry.recovery.restored = true;
    entry.sharers.clear();
  }
  entry.turn.active = true;
  entry.recovery.fetching = true;
  ++entry.turn.number;
  entry.turn.awaited = {entry.recovery.candidates.front().node};
  ChunkMessage message{.kind = ChunkKind::kRecall};
  message.mode = static_cast<std::uint8_t>(wire::RecallMode::kCopy);
  message.chunk = id.value;
  message.turn = entry.turn.number;
  outbox_.send(entry.turn.awaited.front(), message);
  return false;
}

bool SlotRebuilds::fetched(ChunkId id, HomeEntry& entry, NodeId from, std::uint64_t version) {
  entry.turn.active = false;
  HomeEntry::Recovery& recovery = entry.recovery;
  recovery.fetching = false;
  if (!entry.valid) {
    mark(Mark::kFetchNextCandidate);
    std::erase_if(recovery.candidates, [&](const auto& c) { return c.node == from; });
    return fetch(id, entry);
  }
  if (recovery.restored && !mutant(Mutant::kLossUntold)) {
    mark(Mark::kRebuiltFromOldBytes);
    outbox_.lost(id, entry.name, version, entry.version);
  }
  recovery.restored = false;
  recovery.candidates.clear();
  return true;
}

void SlotRebuilds::tell_serving(std::uint32_t slot) {
  auto at = rebuilds_.find(slot);
  if (at == rebuilds_.end() || !at->second.awaited.empty()) return;
  const ChunkDirectory::Entries& entries = directory_.entries();
  for (auto it = entries.lower_bound(std::uint64_t{slot} << kSlotShift);
       it != entries.end() && slot_of(ChunkId{it->first}) == slot; ++it)
    if (it->second.recovery.fetching) return;
  for (NodeId reporter : at->second.reporters)
    outbox_.send(reporter, {.kind = ChunkKind::kServing, .chunk = slot});
  at->second.reporters.clear();
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
