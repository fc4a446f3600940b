#include "protocol/chunks/chunk_directory.h"

#include <algorithm>

#include "protocol/chunks/slots.h"
#include "protocol/chunks/work_instrument.h"
#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

constexpr std::uint32_t kEpochShift = 32;
constexpr std::uint32_t kMaxEpoch = (1u << (kSlotShift - kEpochShift)) - 1;

}  // namespace

const HomeEntry* ChunkDirectory::entry(ChunkId chunk) const {
  auto at = entries_.find(chunk.value);
  return at == entries_.end() ? nullptr : &at->second;
}

bool ChunkDirectory::has_chunks() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return !entry.second.works(); });
}

// ---- Names

bool ChunkDirectory::find(NodeId from, const ChunkMessage& message, Bytes tail) {
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
    create_work(from, message, std::move(name));
  } else if (at == names_.end() && flag(message, wire::kCreateFlag)) {
    create(from, message, std::move(name));
  } else if (at == names_.end() && flag(message, wire::kWaitFlag)) {
    mark(Mark::kFindWaits);
    placements_.await({std::move(name), from, message.request});
  } else if (at == names_.end()) {
    mark(Mark::kFindFails);
    refuse(from, message.request, wire::kUnknownFlag);
  } else {
    const Entry& entry = entries_.at(at->second);
    bool same = !flag(message, wire::kCreateFlag) ||
                (entry.bytes == message.bytes &&
                 (static_cast<std::uint8_t>(entry.coherence) == message.coherence ||
                  static_cast<std::uint8_t>(entry.made) == message.coherence) &&
                 (!works || entry.work.shape == shape_of(message)));
    mark(same ? Mark::kCreateFindsIt : Mark::kMismatch);
    answer(from, message.request, ChunkId{at->second}, entry, same ? 0 : wire::kMismatchFlag);
  }
  return true;
}

// The creator is the first owner: its first write costs no message. In a node slot it is not: it
// may have repeated its question, and then it drops this answer.
void ChunkDirectory::create(NodeId from, const ChunkMessage& message, std::string name) {
  if (leaving_) return refuse(from, message.request, wire::kUnknownFlag);
  auto coherence = static_cast<Coherence>(message.coherence);
  bool owned = coherence == Coherence::kInvalidate && message.chunk < view_.name_slots();
  Entry fresh{
      .name = std::move(name), .bytes = message.bytes, .coherence = coherence, .made = coherence};
  if (!memory_.reserve(fresh.home_bytes(coherence)))
    return refuse(from, message.request, wire::kFullFlag);
  mark(Mark::kCreated);
  add(from, message, std::move(fresh), owned);
}

void ChunkDirectory::create_work(NodeId from, const ChunkMessage& message, std::string name) {
  Entry fresh{.name = std::move(name),
              .bytes = message.bytes,
              .coherence = Coherence::kWork,
              .made = Coherence::kWork,
              .work = {.shape = shape_of(message)}};
  HomeEntry::Work& work = fresh.work;
  if (work.shape.home == kHomeByName) {
    work.home = outbox_.self();
  } else if (work.shape.home != kHomeAtFirst) {
    work.home = NodeId{work.shape.home};
  }
  if (work.home != kNoNode && !view_.has(work.home))
    return refuse(from, message.request, wire::kUnknownFlag);
  add(from, message, std::move(fresh), false);
}

// Gives the chunk a number and its first bytes, and answers all nodes that have asked for its name.
void ChunkDirectory::add(NodeId from, const ChunkMessage& message, Entry fresh, bool owned) {
  TERRANE_CHECK(view_.epoch <= kMaxEpoch, "epochs fit a chunk's number");
  std::uint64_t since = view_.slots[message.chunk].since;
  ChunkId id{message.chunk << kSlotShift | since << kEpochShift | next_number_++};
  names_.emplace(Name{message.chunk, fresh.name}, id.value);
  Entry& entry = entries_.emplace(id.value, std::move(fresh)).first->second;
  if (owned) entry.owner = from;
  if (entry.coherence == Coherence::kInvalidate) {
    outbox_.provide(id, entry.bytes);
  } else if (!entry.works()) {
    entry.pushed.emplace(id, entry.bytes, 0, outbox_);
  }
  std::uint8_t flags = wire::kCreatedFlag;
  if (owned) flags |= wire::kExclusiveFlag;
  answer(from, message.request, id, entry, flags);
  for (const Finder& finder : placements_.take_finders(entry.name))
    answer(finder.node, finder.number, id, entry, 0);
}

void ChunkDirectory::answer(NodeId to, std::uint32_t request, ChunkId id, const Entry& entry,
                            std::uint8_t flags) {
  ChunkMessage found{.kind = ChunkKind::kFound, .flags = flags, .chunk = id.value};
  found.request = request;
  found.coherence = static_cast<std::uint8_t>(entry.coherence_to_be());
  found.mode = static_cast<std::uint8_t>(entry.made);
  if (entry.coherence == Coherence::kInvalidate && entry.coherence_to_be() != entry.coherence)
    found.flags |= wire::kChangingFlag;
  found.bytes = entry.bytes;
  found.version = entry.version;
  if (entry.works()) put_shape(found, entry.work.shape);
  if (entry.works()) found.seen = entry.work.home.value;
  outbox_.send(to, found);
}

void ChunkDirectory::refuse(NodeId to, std::uint32_t request, std::uint8_t flags) {
  ChunkMessage found{.kind = ChunkKind::kFound, .flags = flags, .chunk = kNoChunk.value};
  found.request = request;
  outbox_.send(to, found);
}

// ---- The homes of work streams

bool ChunkDirectory::place(NodeId from, Entry& entry, const ChunkMessage& message) {
  if (!entry.works()) return false;
  auto& [shape, home, awaited] = entry.work;
  if (std::find(awaited.begin(), awaited.end(), from) == awaited.end()) awaited.push_back(from);
  if (home == kNoNode && flag(message, wire::kPlaceFlag)) {
    mark(WorkMark::kPlacedAtFirst);
    home = from;
  }
  if (home == kNoNode) return true;
  ChunkMessage answer{.kind = ChunkKind::kPlaced, .chunk = message.chunk};
  answer.turn = home.value;
  for (NodeId node : awaited) outbox_.send(node, answer);
  awaited.clear();
  return true;
}

// Later questions for its home are answered that there is no such stream.
void ChunkDirectory::forget_dead_work() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    HomeEntry::Work& work = at->second.work;
    std::erase_if(work.awaited, [&](NodeId node) { return !view_.has(node); });
    bool dead = at->second.works() && work.home != kNoNode && !view_.has(work.home);
    at = dead ? forget(at) : std::next(at);
  }
}

// ---- Chunks of a former home

std::pair<HomeEntry*, bool> ChunkDirectory::learn(ChunkId id, std::string name) {
  std::uint64_t& newest = names_.try_emplace(Name{slot_of(id), name}, id.value).first->second;
  newest = std::max(newest, id.value);
  auto [at, fresh] = entries_.try_emplace(id.value);
  if (fresh) at->second.name = std::move(name);
  return {&at->second, fresh};
}

void ChunkDirectory::learn_work(const ChunkMessage& message, std::string name) {
  Entry& entry = *learn(ChunkId{message.chunk}, std::move(name)).first;
  entry.bytes = message.bytes;
  entry.coherence = entry.made = Coherence::kWork;
  entry.work.shape = shape_of(message);
  if (entry.work.home == kNoNode)
    entry.work.home = NodeId{static_cast<std::uint32_t>(message.seen)};
}

bool ChunkDirectory::is_newest(ChunkId id, const Entry& entry) const {
  auto named = names_.find({slot_of(id), entry.name});
  return named != names_.end() && named->second == id.value;
}

ChunkDirectory::Entries::iterator ChunkDirectory::forget(Entries::iterator at) {
  ChunkId id{at->first};
  if (is_newest(id, at->second)) names_.erase({slot_of(id), at->second.name});
  return entries_.erase(at);
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
