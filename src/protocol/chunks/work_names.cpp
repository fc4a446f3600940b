// What the home of a name knows of a work stream: which node is its home.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"
#include "protocol/chunks/work_instrument.h"
#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool ChunkHome::create_work(NodeId from, const ChunkMessage& message, std::string name) {
  Entry fresh{.name = name,
              .bytes = message.bytes,
              .coherence = Coherence::kWork,
              .made = Coherence::kWork,
              .work = shape_of(message)};
  if (fresh.work.home == kHomeByName) {
    fresh.work_home = outbox_.self();
  } else if (fresh.work.home != kHomeAtFirst) {
    fresh.work_home = NodeId{fresh.work.home};
  }
  if (fresh.work_home != kNoNode && !view_.has(fresh.work_home)) {
    answer_find(from, message.request, kNoChunk, nullptr, wire::kUnknownFlag);
    return true;
  }
  ChunkId id = new_id(message.chunk);
  names_.emplace(Name{message.chunk, name}, id.value);
  Entry& entry = entries_[id.value];
  entry = std::move(fresh);
  answer_find(from, message.request, id, &entry, wire::kCreatedFlag);
  made(id, name, entry);
  return true;
}

bool ChunkHome::place(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  ChunkMessage answer{.kind = ChunkKind::kPlaced, .chunk = message.chunk};
  if (at == entries_.end()) {
    answer.flags = wire::kUnknownFlag;
    outbox_.send(from, answer);
    return true;
  }
  Entry& entry = at->second;
  if (!entry.works()) return false;
  std::vector<NodeId>& awaited = entry.place_awaited;
  if (std::find(awaited.begin(), awaited.end(), from) == awaited.end()) awaited.push_back(from);
  if (entry.work_home == kNoNode && flag(message, wire::kPlaceFlag)) {
    mark(WorkMark::kPlacedAtFirst);
    entry.work_home = from;
  }
  if (entry.work_home == kNoNode) return true;
  answer.turn = entry.work_home.value;
  for (NodeId node : awaited) outbox_.send(node, answer);
  awaited.clear();
  return true;
}

// The home of the name has died: each node that knows the stream reports it.
bool ChunkHome::report_work(const ChunkMessage& message, std::string name) {
  auto [named, fresh] = names_.try_emplace(Name{message.chunk >> kSlotShift, name}, message.chunk);
  named->second = std::max(named->second, message.chunk);
  Entry& entry = entries_[message.chunk];
  entry.name = std::move(name);
  entry.bytes = message.bytes;
  entry.coherence = entry.made = Coherence::kWork;
  entry.work = shape_of(message);
  if (entry.work_home == kNoNode)
    entry.work_home = NodeId{static_cast<std::uint32_t>(message.seen)};
  return true;
}

// A work stream dies with its home: its name is forgotten. Later questions for its home are
// answered that there is no such stream.
void ChunkHome::bury_work() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    std::erase_if(entry.place_awaited, [&](NodeId node) { return !view_.has(node); });
    if (!entry.works() || entry.work_home == kNoNode || view_.has(entry.work_home)) {
      ++at;
      continue;
    }
    auto named = names_.find({at->first >> kSlotShift, entry.name});
    if (named != names_.end() && named->second == at->first) names_.erase(named);
    at = entries_.erase(at);
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
