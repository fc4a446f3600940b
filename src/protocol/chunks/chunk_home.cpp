#include "protocol/chunks/chunk_home.h"

#include <algorithm>

#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

using wire::RecallMode;

constexpr std::uint32_t kEpochShift = 32;
constexpr std::uint32_t kMaxEpoch = (1u << (kSlotShift - kEpochShift)) - 1;

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

bool View::has(NodeId node) const { return contains(members, node); }

// FNV-1a: the same on every node.
std::uint32_t slot_of(std::string_view name, const View& view) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::uint32_t>((hash >> 32) % view.name_slots());
}

NodeId home_of(ChunkId chunk, const View& view) {
  std::uint64_t slot = chunk.value >> kSlotShift;
  return slot < view.slots.size() ? view.slots[slot].home : kNoNode;
}

bool ChunkHome::is_needed() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return !entry.second.works(); });
}

const ChunkHome::Entry* ChunkHome::entry(ChunkId chunk) const {
  auto at = entries_.find(chunk.value);
  return at == entries_.end() ? nullptr : &at->second;
}

bool ChunkHome::rebuilding(ChunkId chunk) const {
  auto at = rebuilds_.find(static_cast<std::uint32_t>(chunk.value >> kSlotShift));
  return at != rebuilds_.end() && !at->second.awaited.empty();
}

bool ChunkHome::received(NodeId from, const ChunkMessage& message, Bytes tail) {
  bool names_slot = message.kind == ChunkKind::kFind || message.kind == ChunkKind::kReportEnd ||
                    message.kind == ChunkKind::kLeave || message.kind == ChunkKind::kNamed;
  std::uint64_t slot = names_slot ? message.chunk : message.chunk >> kSlotShift;
  bool reports = message.kind == ChunkKind::kReport || message.kind == ChunkKind::kReportEnd ||
                 message.kind == ChunkKind::kNamed;
  if (!reports && rebuilding(ChunkId{slot << kSlotShift}) &&
      !mutant(Mutant::kAnswerBeforeReports)) {
    mark(Mark::kRebuildDefers);
    rebuilds_[static_cast<std::uint32_t>(slot)].deferred.push_back(
        {from, message, {tail.begin(), tail.end()}});
    return true;
  }
  switch (message.kind) {
    case ChunkKind::kReport:
      return report(from, message, tail);
    case ChunkKind::kNamed:
      return placements_.named(message, tail);
    case ChunkKind::kReportEnd:
      return report_end(from, message);
    case ChunkKind::kFind:
      return find(from, message, tail);
    case ChunkKind::kRequest:
      return request(from, message);
    case ChunkKind::kCancel:
      return cancel(from, message);
    case ChunkKind::kYielded:
      return yielded(from, message, tail);
    case ChunkKind::kEvict:
      return evicted(from, message, tail);
    case ChunkKind::kSubscribe:
      return subscribe(from, message);
    case ChunkKind::kUnsubscribe:
      return unsubscribe(from, message);
    case ChunkKind::kPublish:
      return publish(from, message, tail);
    case ChunkKind::kCredit:
      return credit(from, message);
    case ChunkKind::kHint:
      return hint(from, message);
    case ChunkKind::kPlace:
      return place(from, message);
    case ChunkKind::kLeave:  // what the node sent before was handled by now
      outbox_.send(from, {.kind = ChunkKind::kLeft, .chunk = message.chunk});
      return true;
    default:
      return false;
  }
}

bool ChunkHome::find(NodeId from, const ChunkMessage& message, Bytes tail) {
  if (tail.empty() || tail.size() > kMaxNameBytes || message.bytes > kMaxChunkBytes ||
      message.coherence > static_cast<std::uint8_t>(Coherence::kWork))
    return false;
  bool works = message.coherence == static_cast<std::uint8_t>(Coherence::kWork);
  std::string name(reinterpret_cast<const char*>(tail.data()), tail.size());
  std::uint32_t by_name = slot_of(name, view_);
  if (message.chunk < view_.name_slots() && by_name != message.chunk) return false;
  bool has_chunk = names_.contains({message.chunk, name});
  if (by_name == message.chunk && placements_.find(from, message, name, has_chunk)) return true;
  if (by_name != message.chunk && message.epoch < view_.slots[by_name].since) {
    mark(Mark::kAskedBeforeSuccession);  // the node asks the new home again
    return true;
  }
  auto at = names_.find({message.chunk, name});
  if (at == names_.end() && flag(message, wire::kCreateFlag) && works) {
    return create_work(from, message, std::move(name));
  } else if (at == names_.end() && flag(message, wire::kCreateFlag)) {
    create(from, message, std::move(name));
  } else if (at == names_.end() && flag(message, wire::kWaitFlag)) {
    mark(Mark::kFindWaits);
    placements_.await({std::move(name), from, message.request});
  } else if (at == names_.end()) {
    mark(Mark::kFindFails);
    answer_find(from, message.request, kNoChunk, nullptr, wire::kUnknownFlag);
  } else {
    const Entry& entry = entries_[at->second];
    bool same = !flag(message, wire::kCreateFlag) ||
                (entry.bytes == message.bytes &&
                 (static_cast<std::uint8_t>(entry.coherence) == message.coherence ||
                  static_cast<std::uint8_t>(entry.made) == message.coherence) &&
                 (!works || entry.work == shape_of(message)));
    mark(same ? Mark::kCreateFindsIt : Mark::kMismatch);
    answer_find(from, message.request, ChunkId{at->second}, &entry, same ? 0 : wire::kMismatchFlag);
  }
  return true;
}

// The creator is the first owner: its first write costs no message.
void ChunkHome::create(NodeId from, const ChunkMessage& message, std::string name) {
  auto coherence = static_cast<Coherence>(message.coherence);
  bool pushed = coherence != Coherence::kInvalidate;
  // In a node slot the creator does not become the owner: it may have repeated its question, and
  // then it drops this answer.
  bool owned = !pushed && message.chunk < view_.name_slots();
  if (leaving_) {
    answer_find(from, message.request, kNoChunk, nullptr, wire::kUnknownFlag);
    return;
  }
  Entry fresh{.name = name, .bytes = message.bytes, .coherence = coherence, .made = coherence};
  std::uint64_t bytes = fresh.home_bytes(coherence);
  if (bytes > memory_bytes_ - used_bytes_) {
    answer_find(from, message.request, kNoChunk, nullptr, wire::kFullFlag);
    return;
  }
  mark(Mark::kCreated);
  used_bytes_ += bytes;
  ChunkId id = new_id(message.chunk);
  names_.emplace(Name{message.chunk, name}, id.value);
  Entry& entry = entries_[id.value];
  entry = std::move(fresh);
  if (pushed) {
    entry.kept.push_back({0, Place{kHomePlaces}, {}});
    outbox_.provide(id, entry.bytes, Place{kHomePlaces});
  } else {
    if (owned) entry.owner = from;
    outbox_.provide(id, entry.bytes);
  }
  answer_find(from, message.request, id, &entry,
              owned ? wire::kCreatedFlag | wire::kExclusiveFlag : wire::kCreatedFlag);
  made(id, name, entry);
}

ChunkId ChunkHome::new_id(std::uint64_t slot) {
  TERRANE_CHECK(view_.epoch <= kMaxEpoch, "epochs fit a chunk's number");
  std::uint64_t since = view_.slots[slot].since;
  return ChunkId{slot << kSlotShift | since << kEpochShift | next_number_++};
}

void ChunkHome::made(ChunkId id, const std::string& name, const Entry& entry) {
  for (const Finder& finder : placements_.take_finders(name))
    answer_find(finder.node, finder.number, id, &entry, 0);
}

void ChunkHome::answer_find(NodeId to, std::uint32_t request, ChunkId id, const Entry* entry,
                            std::uint8_t flags) {
  ChunkMessage answer{.kind = ChunkKind::kFound, .flags = flags, .chunk = id.value};
  answer.request = request;
  if (entry) {
    answer.coherence = static_cast<std::uint8_t>(entry->coherence_to_be());
    answer.mode = static_cast<std::uint8_t>(entry->made);
    if (entry->coherence == Coherence::kInvalidate && entry->coherence_to_be() != entry->coherence)
      answer.flags |= wire::kChangingFlag;
    answer.bytes = entry->bytes;
    answer.version = entry->version;
    if (entry->works()) put_shape(answer, entry->work);
    if (entry->works()) answer.seen = entry->work_home.value;
  }
  outbox_.send(to, answer);
}

bool ChunkHome::request(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  Entry::Request request{
      .node = from, .number = message.request, .flags = message.flags, .version = message.version};
  if (at == entries_.end()) {
    refuse(ChunkId{message.chunk}, request, wire::kUnknownFlag);
    return true;
  }
  Entry& entry = at->second;
  if (entry.works()) return false;
  // A node has at most one request of each kind under way.
  auto alike = [&](const Entry::Request& other) {
    return other.node == from && !other.hint &&
           ((other.flags ^ message.flags) & wire::kExclusiveFlag) == 0;
  };
  bool again = (entry.active && !entry.fetching && alike(entry.serving)) ||
               std::any_of(entry.queue.begin(), entry.queue.end(), alike);
  bool changing = entry.coherence_to_be() != entry.coherence;
  bool snapshot = !entry.kept.empty() && (message.flags & wire::kExclusiveFlag) == 0;
  if (again || (entry.owner == from && !snapshot)) return false;
  if (mutant(Mutant::kUpgradeAsAsked) && contains(entry.sharers, from)) {
    request.flags |= wire::kHaveFlag;
    request.version = ~0ull;
  }
  if (snapshot && !changing && !(entry.active && mutant(Mutant::kReaderWaitsBehind))) {
    grant_pushed(ChunkId{message.chunk}, entry, request);
    return true;
  }
  // The request that is being served may wait for a scope, and a try must not.
  bool waits = mutant(Mutant::kTryWaitsBehind);
  if ((message.flags & wire::kTryFlag) != 0 && entry.active && !waits) {
    mark(Mark::kTryFindsRequest);
    refuse(ChunkId{message.chunk}, request, wire::kBusyFlag);
    return true;
  }
  entry.queue.push_back(request);
  serve(ChunkId{message.chunk}, entry);
  return true;
}

bool ChunkHome::cancel(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return true;
  Entry& entry = at->second;
  if (entry.active && !entry.fetching && entry.serving.node == from &&
      entry.serving.number == message.request) {
    mark(Mark::kCancelActive);
    entry.serving.cancelled = true;
    return true;
  }
  for (auto it = entry.queue.begin(); it != entry.queue.end(); ++it) {
    if (it->node != from || it->number != message.request) continue;
    mark(Mark::kCancelQueued);
    Entry::Request request = *it;
    if (!mutant(Mutant::kCancelAnswersTwice)) entry.queue.erase(it);
    refuse(ChunkId{message.chunk}, request, 0);
    return true;
  }
  mark(Mark::kCancelLate);  // the answer is on its way
  return true;
}

void ChunkHome::serve(ChunkId id, Entry& entry) {
  while (!entry.active && !entry.queue.empty()) begin(id, entry);
  if (!entry.active && !entry.valid && entry.owner == kNoNode && !rebuilding(id)) fetch(id, entry);
}

void ChunkHome::begin(ChunkId id, Entry& entry) {
  if (entry.owner == kNoNode && !entry.valid) return fetch(id, entry);
  entry.serving = entry.queue.front();
  entry.queue.pop_front();
  if (entry.serving.hint) return begin_hint(id, entry);
  bool snapshot = !entry.kept.empty() && (entry.serving.flags & wire::kExclusiveFlag) == 0;
  if (snapshot) return grant_pushed(id, entry, entry.serving);
  entry.active = true;
  entry.refused = false;
  ++entry.turn;
  bool exclusive = (entry.serving.flags & wire::kExclusiveFlag) != 0;
  if (entry.owner != kNoNode) {
    mark(exclusive ? Mark::kRecallOwnerDrop : Mark::kRecallOwnerShare);
    if (exclusive || !mutant(Mutant::kReadKeepsOwner))
      recall(id, entry, entry.owner, exclusive ? RecallMode::kDrop : RecallMode::kShare);
  } else if (exclusive && !mutant(Mutant::kGrantAmongReaders)) {
    for (NodeId sharer : entry.sharers) {
      if (sharer == entry.serving.node) continue;
      mark(Mark::kRecallSharers);
      recall(id, entry, sharer, RecallMode::kDrop);
    }
  }
  if (entry.awaited.empty()) finish(id, entry);
}

void ChunkHome::recall(ChunkId id, Entry& entry, NodeId from, RecallMode mode) {
  insert(entry.awaited, from);
  ChunkMessage message{.kind = ChunkKind::kRecall, .mode = static_cast<std::uint8_t>(mode)};
  message.flags = entry.serving.flags & wire::kTryFlag;
  if (entry.serving.hint) message.coherence = static_cast<std::uint8_t>(*entry.serving.hint);
  message.chunk = id.value;
  message.turn = entry.turn;
  outbox_.send(from, message);
}

bool ChunkHome::yielded(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  ChunkId id{message.chunk};
  if (!entry.active || message.turn != entry.turn || !contains(entry.awaited, from)) return false;
  if (!take_bytes(from, id, entry, message, tail)) return false;
  erase(entry.awaited, from);
  if (entry.fetching) {
    fetched(id, entry, from, message);
    return true;
  }
  auto mode = static_cast<RecallMode>(message.mode);
  if (flag(message, wire::kBusyFlag)) {
    entry.refused = true;
  } else if (entry.owner == from) {
    entry.owner = kNoNode;
    if (mode == RecallMode::kShare) insert(entry.sharers, from);
  } else if (mode != RecallMode::kShare) {
    erase(entry.sharers, from);
  }
  if (entry.awaited.empty() || mutant(Mutant::kGrantEarly)) {
    entry.awaited.clear();
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
  if (!entry.fetching) {
    if (from != entry.owner || message.version < entry.version) return false;
    entry.version = message.version;
  }
  outbox_.provide(id, entry.bytes);
  outbox_.install(from, id, tail);
  entry.valid = true;
  return true;
}

bool ChunkHome::evicted(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return true;  // the chunk is gone, and that node will be notified
  Entry& entry = at->second;
  if (entry.owner != from && !contains(entry.sharers, from)) return false;
  if (!take_bytes(from, ChunkId{message.chunk}, entry, message, tail)) return false;
  if (flag(message, wire::kDataFlag)) {
    ChunkMessage answer{.kind = ChunkKind::kEvicted, .chunk = message.chunk};
    answer.version = message.version;
    outbox_.send(from, answer);
  }
  if (entry.owner == from) entry.owner = kNoNode;
  erase(entry.sharers, from);
  serve(ChunkId{message.chunk}, entry);
  return true;
}

void ChunkHome::finish(ChunkId id, Entry& entry) {
  entry.active = false;
  Entry::Request request = entry.serving;
  bool wanted = !request.cancelled || request.hint;
  if (!entry.valid && entry.owner == kNoNode && wanted) {  // the owner has died
    entry.queue.push_front(request);
    return;
  }
  if (request.hint) return change(id, entry, request);
  if (request.cancelled && !mutant(Mutant::kCancelAnswersTwice)) {
    refuse(id, request, 0);
  } else if (entry.refused) {
    if (!mutant(Mutant::kRefusalForgotten)) refuse(id, request, wire::kBusyFlag);
  } else {
    grant(id, entry, request);
  }
}

void ChunkHome::refuse(ChunkId id, const Entry::Request& request, std::uint8_t flags) {
  ChunkMessage answer{.kind = ChunkKind::kRefused, .flags = flags, .chunk = id.value};
  answer.request = request.number;
  outbox_.send(request.node, answer);
}

// The answer to a request for the right to write has the number of versions for which the home has
// room.
void ChunkHome::grant_pushed(ChunkId id, Entry& entry, const Entry::Request& request) {
  bool exclusive = (request.flags & wire::kExclusiveFlag) != 0;
  bool written = entry.coherence == Coherence::kOnce && entry.version > 0;
  if (exclusive && written && !mutant(Mutant::kWriteTwice)) {
    mark(Mark::kWrittenOnce);
    ChunkMessage answer{.kind = ChunkKind::kRefused, .flags = wire::kWrittenFlag};
    answer.chunk = id.value;
    answer.request = request.number;
    answer.turn = entry.writer.value;
    outbox_.send(request.node, answer);
    return;
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
    outbox_.send_data(request.node, answer, entry.kept.back().place);
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
  for (const auto& [id, entry] : entries_) {
    if (rebuilding(ChunkId{id}) || entry.works()) continue;
    // If an owner dies while all nodes change the coherence, that is noticed when the others have
    // yielded.
    bool going_over = entry.active && entry.serving.hint;
    TERRANE_CHECK(entry.valid || entry.fetching || entry.owner != kNoNode || going_over,
                  "the bytes are at the home, at the owner, or on their way");
    TERRANE_CHECK(entry.owner == kNoNode || entry.sharers.empty(),
                  "where somebody may write nobody else reads");
    TERRANE_CHECK(entry.kept.size() <= kMostKept, "a home keeps no more versions than it may");
    TERRANE_CHECK(entry.active == !entry.awaited.empty(), "a request that waits awaits somebody");
    TERRANE_CHECK(entry.active || entry.queue.empty(), "no request waits for nothing");
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
