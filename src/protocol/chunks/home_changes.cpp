// What changes at a home beside the requests: versions are published, the coherence of a chunk
// changes, nodes die, and slots come here.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// ---- Versions

bool ChunkHome::subscribe(NodeId from, Entry& entry, const ChunkMessage& message) {
  if (message.turn < 1 || message.turn > kMaxWindow) return false;
  if (entry.pushed) return entry.pushed->subscribe(from, message);
  // That node has changed to the new coherence, and others have not.
  if (entry.coherence_to_be() == Coherence::kInvalidate) return false;
  mark(Mark::kSubscribedEarly);
  for (const auto& [node, early] : entry.early)
    if (node == from) return false;
  entry.early.emplace_back(from, message);
  return true;
}

void ChunkHome::unsubscribe(NodeId node, Entry& entry) {
  if (entry.pushed) entry.pushed->unsubscribe(node);
  std::erase_if(entry.early, [&](const auto& early) { return early.first == node; });
}

bool ChunkHome::publish(NodeId from, Entry& entry, const ChunkMessage& message, Bytes tail) {
  bool fits = entry.room() > 0 || mutant(Mutant::kPublishWithoutCredit);
  if (entry.owner != from || !entry.pushed || !fits) return false;
  if (!entry.pushed->publish(from, message, tail)) return false;
  entry.version = message.version;
  entry.writer = from;
  if (entry.coherence == Coherence::kOnce) entry.owner = kNoNode;
  return true;
}

// Forgets what all subscribers were sent, and credits the writer with the room.
void ChunkHome::forget_pushed(ChunkId id, Entry& entry) {
  if (!entry.pushed) return;
  std::uint32_t before = entry.room();
  entry.pushed->forget_sent();
  std::uint32_t more = entry.room() - before;
  if (more == 0 || entry.owner == kNoNode || mutant(Mutant::kCreditLost)) return;
  mark(Mark::kWriterCredited);
  ChunkMessage message{.kind = ChunkKind::kCredit, .chunk = id.value};
  message.turn = more;
  outbox_.send(entry.owner, message);
}

// ---- Another coherence: every node gives up what it has of the chunk under the old one, and only
// then it changes.

bool ChunkHome::hint(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message) {
  if (message.coherence > static_cast<std::uint8_t>(Coherence::kOnce)) return false;
  auto waiting = std::count_if(entry.queue.begin(), entry.queue.end(),
                               [&](const Entry::Request& r) { return r.node == from; });
  if (waiting > static_cast<std::ptrdiff_t>(kMaxWindow)) return false;
  Entry::Request request{.node = from, .number = message.request};
  request.hint = static_cast<Coherence>(message.coherence);
  entry.queue.push_back(request);
  serve(id, entry);
  return true;
}

void ChunkHome::answer_hint(ChunkId id, NodeId to, std::uint32_t number, std::uint8_t flags) {
  if (to == kNoNode) return;  // the node that asked the former home asks again
  ChunkMessage answer{.kind = ChunkKind::kHinted, .flags = flags, .chunk = id.value};
  answer.request = number;
  outbox_.send(to, answer);
}

void ChunkHome::begin_hint(ChunkId id, Entry& entry) {
  Entry::Request& request = entry.turn.serving;
  if (*request.hint == entry.coherence) {
    mark(Mark::kHintFindsItSo);
    answer_hint(id, request.node, request.number, 0);
    return;
  }
  std::uint64_t now = entry.home_bytes(entry.coherence);
  std::uint64_t then = entry.home_bytes(*request.hint);
  if (then > now && !memory_.has(then - now)) {
    answer_hint(id, request.node, request.number, wire::kFullFlag);
    return;
  }
  request.begun = true;
  entry.turn.active = true;
  entry.turn.refused = false;
  ++entry.turn.number;
  for (NodeId member : view_.members) {
    if (mutant(Mutant::kHintUnasked) && member != entry.owner && member != outbox_.self()) continue;
    recall(id, entry, member, wire::RecallMode::kEnd);
  }
}

// All nodes have given up what they had.
void ChunkHome::change(ChunkId id, Entry& entry, const Entry::Request& request) {
  Coherence to = *request.hint;
  bool was_pushed = entry.coherence != Coherence::kInvalidate;
  bool will_be = to != Coherence::kInvalidate;
  memory_.count(entry.home_bytes(to));
  memory_.give_back(entry.home_bytes(entry.coherence));
  entry.sharers.clear();
  if (was_pushed && will_be) {
    mark(Mark::kHintAmongPushed);
  } else if (will_be) {
    mark(Mark::kHintToPushed);
    entry.pushed.emplace(id, entry.bytes, entry.version, outbox_);
    outbox_.copy(id, Place{}, entry.pushed->newest_place());
    outbox_.discard(id);
  } else {
    mark(Mark::kHintFromPushed);
    outbox_.provide(id, entry.bytes);
    outbox_.copy(id, entry.pushed->newest_place(), Place{});
    entry.pushed->discard_all();
    entry.pushed.reset();
  }
  entry.coherence = to;
  for (Entry::Request& other : entry.queue)
    other.flags &= static_cast<std::uint8_t>(~wire::kHaveFlag);
  answer_hint(id, request.node, request.number, 0);
  std::vector<std::pair<NodeId, ChunkMessage>> early;
  early.swap(entry.early);
  for (const auto& [node, message] : early)
    if (!subscribe(node, entry, message)) outbox_.malformed(node);
}

// ---- Views

void ChunkHome::view_changed(std::uint32_t before) {
  std::vector<NodeId> members = view_.members;
  members.swap(members_);
  for (NodeId node : members) {
    if (view_.has(node)) continue;
    directory_.forget_finders(node);
    for (auto& [id, entry] : directory_.entries())
      if (!entry.works()) bury(ChunkId{id}, entry, node);
  }
  directory_.forget_dead_work();
  for (const auto& [id, entry] : directory_.entries())  // perhaps no client knows the chunk
    tell_placement(ChunkId{id}, entry.name, view_, before, outbox_);
  for (std::uint32_t slot : rebuilds_.view_changed(before)) complete(slot);
}

void ChunkHome::bury(ChunkId id, Entry& entry, NodeId dead) {
  // If some nodes have changed to the new coherence, all have to: the request stays.
  std::erase_if(entry.queue, [&](const Entry::Request& r) { return r.node == dead && !r.begun; });
  std::erase_if(entry.early, [&](const auto& early) { return early.first == dead; });
  std::erase_if(entry.recovery.candidates,
                [&](const Entry::Recovery::Candidate& c) { return c.node == dead; });
  if (entry.pushed && entry.pushed->unsubscribe(dead)) mark(Mark::kDeadSubscriber);
  forget_pushed(id, entry);
  auto in = [&](std::vector<NodeId>& nodes) {
    return std::erase_if(nodes, [&](NodeId node) { return node == dead; }) > 0;
  };
  if (in(entry.sharers)) mark(Mark::kDeadSharer);
  if (entry.owner == dead && !mutant(Mutant::kDeadStillOwner)) owner_died(id, entry);
  if (!entry.turn.active) return serve(id, entry);
  if (!entry.recovery.fetching && entry.turn.serving.node == dead) {
    mark(Mark::kDeadServed);
    entry.turn.serving.cancelled = true;
  }
  if (mutant(Mutant::kDeadStillAwaited) || !in(entry.turn.awaited)) return;
  mark(Mark::kDeadAwaited);
  if (!entry.turn.awaited.empty()) return;
  if (entry.recovery.fetching) {
    if (rebuilds_.fetched(id, entry, dead, 0)) recovered(id, entry);
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
    entry.recovery.restored = true;
    if (!entry.turn.active) fetch(id, entry);
  }
}

// All nodes have reported: serves what was deferred.
void ChunkHome::complete(std::uint32_t slot) {
  rebuilds_.complete(slot, [this](ChunkId id, Entry& entry) { serve(id, entry); });
  while (const SlotRebuilds::Deferred* one = rebuilds_.next_deferred(slot))
    if (view_.has(one->from) && !received(one->from, one->message, one->tail))
      outbox_.malformed(one->from);
  rebuilds_.tell_serving(slot);
}

void ChunkHome::fetch(ChunkId id, Entry& entry) {
  if (rebuilds_.fetch(id, entry)) recovered(id, entry);
}

void ChunkHome::recovered(ChunkId id, Entry& entry) {
  serve(id, entry);
  rebuilds_.tell_serving(slot_of(id));
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
