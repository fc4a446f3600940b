#include "protocol/chunks/chunk_home.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

using wire::RecallMode;

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

void insert(std::vector<NodeId>& nodes, NodeId node) {
  auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (at == nodes.end() || *at != node) nodes.insert(at, node);
}

bool erase(std::vector<NodeId>& nodes, NodeId node) {
  auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (at == nodes.end() || *at != node) return false;
  nodes.erase(at);
  return true;
}

}  // namespace

bool ChunkHome::received(NodeId from, const ChunkMessage& message, Bytes tail) {
  bool reports = message.kind == ChunkKind::kReport || message.kind == ChunkKind::kReportEnd ||
                 message.kind == ChunkKind::kNamed;
  std::uint32_t slot = slot_of(message);
  if (!reports && rebuilds_.awaits_reports(slot) && !mutant(Mutant::kAnswerBeforeReports)) {
    rebuilds_.defer(slot, from, message, tail);
    return true;
  }
  if (reports || names_slot(message.kind)) return about_slot(from, message, tail);
  ChunkId id{message.chunk};
  Entry* entry = directory_.entry(id);
  return entry ? about_chunk(from, id, *entry, message, tail) : about_unknown(from, message);
}

bool ChunkHome::about_slot(NodeId from, const ChunkMessage& message, Bytes tail) {
  std::uint32_t slot = slot_of(message);
  switch (message.kind) {
    case ChunkKind::kReport:
      return rebuilds_.report(from, message, tail);
    case ChunkKind::kNamed:
      return directory_.named(message, tail);
    case ChunkKind::kReportEnd:
      if (rebuilds_.report_ended(from, slot)) complete(slot);
      return true;
    case ChunkKind::kFind:
      return directory_.find(from, message, tail);
    case ChunkKind::kLeave:  // what the node sent before was handled by now
      outbox_.send(from, {.kind = ChunkKind::kLeft, .chunk = message.chunk});
      return true;
    default:
      return false;
  }
}

bool ChunkHome::about_chunk(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message,
                            Bytes tail) {
  switch (message.kind) {
    case ChunkKind::kRequest:
      return request(from, id, entry, message);
    case ChunkKind::kCancel:
      cancel(from, id, entry, message.request);
      return true;
    case ChunkKind::kYielded:
      return yielded(from, id, entry, message, tail);
    case ChunkKind::kEvict:
      return evicted(from, id, entry, message, tail);
    case ChunkKind::kSubscribe:
      return subscribe(from, entry, message);
    case ChunkKind::kUnsubscribe:
      unsubscribe(from, entry);
      break;
    case ChunkKind::kPublish:
      if (!publish(from, entry, message, tail)) return false;
      break;
    case ChunkKind::kCredit:
      if (entry.pushed && !entry.pushed->credit(from, message)) return false;
      break;
    case ChunkKind::kHint:
      return hint(from, id, entry, message);
    case ChunkKind::kPlace:
      return directory_.place(from, entry, message);
    default:
      return false;
  }
  forget_pushed(id, entry);
  return true;
}

// The chunk died with its home, and that node will be notified; or the message is malformed.
bool ChunkHome::about_unknown(NodeId from, const ChunkMessage& message) {
  ChunkId id{message.chunk};
  switch (message.kind) {
    case ChunkKind::kRequest:
      refuse(id, {.node = from, .number = message.request}, wire::kUnknownFlag);
      return true;
    case ChunkKind::kHint:
      if (message.coherence > static_cast<std::uint8_t>(Coherence::kOnce)) return false;
      answer_hint(id, from, message.request, wire::kUnknownFlag);
      return true;
    case ChunkKind::kPlace:
      outbox_.send(from,
                   {.kind = ChunkKind::kPlaced, .flags = wire::kUnknownFlag, .chunk = id.value});
      return true;
    default:
      return message.kind == ChunkKind::kCancel || message.kind == ChunkKind::kEvict;
  }
}

bool ChunkHome::request(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message) {
  if (entry.works()) return false;
  Entry::Request request{
      .node = from, .number = message.request, .flags = message.flags, .version = message.version};
  // A node has at most one request of each kind under way.
  auto alike = [&](const Entry::Request& other) {
    return other.node == from && !other.hint &&
           ((other.flags ^ message.flags) & wire::kExclusiveFlag) == 0;
  };
  bool again = (entry.turn.active && !entry.recovery.fetching && alike(entry.turn.serving)) ||
               std::any_of(entry.queue.begin(), entry.queue.end(), alike);
  bool changing = entry.coherence_to_be() != entry.coherence;
  bool snapshot = entry.pushed && (message.flags & wire::kExclusiveFlag) == 0;
  if (again || (entry.owner == from && !snapshot)) return false;
  if (mutant(Mutant::kUpgradeAsAsked) && contains(entry.sharers, from)) {
    request.flags |= wire::kHaveFlag;
    request.version = ~0ull;
  }
  if (snapshot && !changing && !(entry.turn.active && mutant(Mutant::kReaderWaitsBehind))) {
    grant_pushed(id, entry, request);
    return true;
  }
  // The request that is being served may wait for a scope, and a try must not.
  bool waits = mutant(Mutant::kTryWaitsBehind);
  if ((message.flags & wire::kTryFlag) != 0 && entry.turn.active && !waits) {
    mark(Mark::kTryFindsRequest);
    refuse(id, request, wire::kBusyFlag);
    return true;
  }
  entry.queue.push_back(request);
  serve(id, entry);
  return true;
}

void ChunkHome::cancel(NodeId from, ChunkId id, Entry& entry, std::uint32_t number) {
  if (entry.turn.active && !entry.recovery.fetching && entry.turn.serving.node == from &&
      entry.turn.serving.number == number) {
    mark(Mark::kCancelActive);
    entry.turn.serving.cancelled = true;
    return;
  }
  for (auto it = entry.queue.begin(); it != entry.queue.end(); ++it) {
    if (it->node != from || it->number != number) continue;
    mark(Mark::kCancelQueued);
    Entry::Request request = *it;
    if (!mutant(Mutant::kCancelAnswersTwice)) entry.queue.erase(it);
    refuse(id, request, 0);
    return;
  }
  mark(Mark::kCancelLate);  // the answer is on its way
}

void ChunkHome::serve(ChunkId id, Entry& entry) {
  while (!entry.turn.active && !entry.queue.empty()) begin(id, entry);
  if (!entry.turn.active && !entry.valid && entry.owner == kNoNode && !rebuilding(id))
    fetch(id, entry);
}

void ChunkHome::begin(ChunkId id, Entry& entry) {
  if (entry.owner == kNoNode && !entry.valid) return fetch(id, entry);
  entry.turn.serving = entry.queue.front();
  entry.queue.pop_front();
  if (entry.turn.serving.hint) return begin_hint(id, entry);
  bool snapshot = entry.pushed && (entry.turn.serving.flags & wire::kExclusiveFlag) == 0;
  if (snapshot) return grant_pushed(id, entry, entry.turn.serving);
  entry.turn.active = true;
  entry.turn.refused = false;
  ++entry.turn.number;
  bool exclusive = (entry.turn.serving.flags & wire::kExclusiveFlag) != 0;
  if (entry.owner != kNoNode) {
    mark(exclusive ? Mark::kRecallOwnerDrop : Mark::kRecallOwnerShare);
    if (exclusive || !mutant(Mutant::kReadKeepsOwner))
      recall(id, entry, entry.owner, exclusive ? RecallMode::kDrop : RecallMode::kShare);
  } else if (exclusive && !mutant(Mutant::kGrantAmongReaders)) {
    for (NodeId sharer : entry.sharers) {
      if (sharer == entry.turn.serving.node) continue;
      mark(Mark::kRecallSharers);
      recall(id, entry, sharer, RecallMode::kDrop);
    }
  }
  if (entry.turn.awaited.empty()) finish(id, entry);
}

void ChunkHome::recall(ChunkId id, Entry& entry, NodeId from, RecallMode mode) {
  insert(entry.turn.awaited, from);
  ChunkMessage message{.kind = ChunkKind::kRecall, .mode = static_cast<std::uint8_t>(mode)};
  message.flags = entry.turn.serving.flags & wire::kTryFlag;
  if (entry.turn.serving.hint)
    message.coherence = static_cast<std::uint8_t>(*entry.turn.serving.hint);
  message.chunk = id.value;
  message.turn = entry.turn.number;
  outbox_.send(from, message);
}

bool ChunkHome::yielded(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message,
                        Bytes tail) {
  if (!entry.turn.active || message.turn != entry.turn.number ||
      !contains(entry.turn.awaited, from))
    return false;
  if (!take_bytes(from, id, entry, message, tail)) return false;
  erase(entry.turn.awaited, from);
  if (entry.recovery.fetching) {
    if (rebuilds_.fetched(id, entry, from, message.version)) recovered(id, entry);
    return true;
  }
  auto mode = static_cast<RecallMode>(message.mode);
  if (flag(message, wire::kBusyFlag)) {
    entry.turn.refused = true;
  } else if (entry.owner == from) {
    entry.owner = kNoNode;
    if (mode == RecallMode::kShare) insert(entry.sharers, from);
  } else if (mode != RecallMode::kShare) {
    erase(entry.sharers, from);
  }
  if (entry.turn.awaited.empty() || mutant(Mutant::kGrantEarly)) {
    entry.turn.awaited.clear();
    finish(id, entry);
    serve(id, entry);
  }
  return true;
}

// Takes the bytes that the owner wrote. False: malformed.
bool ChunkHome::take_bytes(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message,
                           Bytes tail) {
  if (!flag(message, wire::kDataFlag)) return tail.empty();
  if (entry.coherence != Coherence::kInvalidate) return false;
  bool own = from == outbox_.self();
  if (tail.size() != (own ? 0 : entry.bytes)) return false;
  if (!entry.recovery.fetching) {
    if (from != entry.owner || message.version < entry.version) return false;
    entry.version = message.version;
  }
  outbox_.provide(id, entry.bytes);
  outbox_.install(from, id, tail);
  entry.valid = true;
  return true;
}

bool ChunkHome::evicted(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message,
                        Bytes tail) {
  if (entry.owner != from && !contains(entry.sharers, from)) return false;
  if (!take_bytes(from, id, entry, message, tail)) return false;
  if (flag(message, wire::kDataFlag)) {
    ChunkMessage answer{.kind = ChunkKind::kEvicted, .chunk = message.chunk};
    answer.version = message.version;
    outbox_.send(from, answer);
  }
  if (entry.owner == from) entry.owner = kNoNode;
  erase(entry.sharers, from);
  serve(id, entry);
  return true;
}

void ChunkHome::finish(ChunkId id, Entry& entry) {
  entry.turn.active = false;
  Entry::Request request = entry.turn.serving;
  bool wanted = !request.cancelled || request.hint;
  if (!entry.valid && entry.owner == kNoNode && wanted) {  // the owner has died
    entry.queue.push_front(request);
    return;
  }
  if (request.hint) return change(id, entry, request);
  if (request.cancelled && !mutant(Mutant::kCancelAnswersTwice)) {
    refuse(id, request, 0);
  } else if (entry.turn.refused) {
    if (!mutant(Mutant::kRefusalForgotten)) refuse(id, request, wire::kBusyFlag);
  } else {
    grant(id, entry, request);
  }
}

void ChunkHome::refuse(ChunkId id, const Entry::Request& request, std::uint8_t flags,
                       std::uint32_t turn) {
  ChunkMessage answer{.kind = ChunkKind::kRefused, .flags = flags, .chunk = id.value};
  answer.request = request.number;
  answer.turn = turn;
  outbox_.send(request.node, answer);
}

// The answer to a request for the right to write has the number of versions for which the home has
// room.
void ChunkHome::grant_pushed(ChunkId id, Entry& entry, const Entry::Request& request) {
  bool exclusive = (request.flags & wire::kExclusiveFlag) != 0;
  bool written = entry.coherence == Coherence::kOnce && entry.version > 0;
  if (exclusive && written && !mutant(Mutant::kWriteTwice)) {
    mark(Mark::kWrittenOnce);
    return refuse(id, request, wire::kWrittenFlag, entry.writer.value);
  }
  bool has = (request.flags & wire::kHaveFlag) != 0 && request.version == entry.version;
  ChunkMessage answer{.kind = ChunkKind::kGrant, .chunk = id.value, .version = entry.version};
  answer.bytes = entry.bytes;
  answer.request = request.number;
  if (exclusive) {
    mark(Mark::kGrantWriter);
    answer.flags = wire::kExclusiveFlag;
    answer.turn = entry.room();
    entry.owner = request.node;
  }
  if (has || (request.flags & wire::kWholeFlag) != 0) {
    if (!has) answer.flags |= wire::kBlankFlag;
    outbox_.send(request.node, answer);
  } else {
    answer.flags |= wire::kDataFlag;
    outbox_.send_data(request.node, answer, entry.pushed->newest_place());
  }
}

void ChunkHome::grant(ChunkId id, Entry& entry, const Entry::Request& request) {
  if (entry.coherence != Coherence::kInvalidate) return grant_pushed(id, entry, request);
  bool shares = contains(entry.sharers, request.node);
  bool has = shares || ((request.flags & wire::kHaveFlag) != 0 && request.version == entry.version);
  if (mutant(Mutant::kUpgradeAsAsked) && request.version == ~0ull) has = true;
  bool whole = (request.flags & wire::kWholeFlag) != 0;
  bool exclusive = (request.flags & wire::kExclusiveFlag) != 0;
  if (!exclusive && entry.sharers.empty() && entry.owner == kNoNode) {
    mark(Mark::kGrantExclusiveToReader);
    exclusive = true;
  }
  ChunkMessage answer{.kind = ChunkKind::kGrant, .chunk = id.value, .version = entry.version};
  answer.bytes = entry.bytes;
  answer.request = request.number;
  answer.flags = exclusive ? wire::kExclusiveFlag : 0;
  if (exclusive) {
    entry.owner = request.node;
    entry.sharers.clear();
  } else {
    insert(entry.sharers, request.node);
  }
  if (has) {
    mark(Mark::kGrantWithoutData);
    outbox_.send(request.node, answer);
  } else if (whole) {
    mark(Mark::kGrantBlank);
    answer.flags |= wire::kBlankFlag;
    outbox_.send(request.node, answer);
  } else {
    answer.flags |= wire::kDataFlag;
    outbox_.send_data(request.node, answer);
  }
}

void ChunkHome::check_invariants() const {
  for (const auto& [id, entry] : directory_.entries()) {
    if (rebuilding(ChunkId{id}) || entry.works()) continue;
    // If an owner dies while all nodes change the coherence, that is noticed when the others have
    // yielded.
    bool going_over = entry.turn.active && entry.turn.serving.hint;
    TERRANE_CHECK(entry.valid || entry.recovery.fetching || entry.owner != kNoNode || going_over,
                  "the bytes are at the home, at the owner, or on their way");
    TERRANE_CHECK(entry.owner == kNoNode || entry.sharers.empty(),
                  "where somebody may write nobody else reads");
    if (entry.pushed) entry.pushed->check_invariants();
    TERRANE_CHECK(entry.turn.active == !entry.turn.awaited.empty(),
                  "a request that waits awaits somebody");
    TERRANE_CHECK(entry.turn.active || entry.queue.empty(), "no request waits for nothing");
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
