#include "protocol/chunks/copies.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

const ChunkCopy* Copies::find(ChunkId chunk) const {
  auto at = copies_.find(chunk.value);
  return at == copies_.end() ? nullptr : &at->second;
}

std::pair<ChunkCopy&, bool> Copies::add(ChunkId id, std::uint64_t bytes, Coherence coherence,
                                        const std::string& name) {
  auto [at, fresh] = copies_.try_emplace(id.value);
  Copy& copy = at->second;
  if (fresh) {
    copy.name = name;
    copy.ordinal = static_cast<std::uint32_t>(copies_.size() - 1);
    copy.bytes = bytes;
    copy.coherence = copy.made = coherence;
  }
  return {copy, fresh};
}

void Copies::home_moved(std::uint32_t slot) {
  if (std::find(rebuilding_.begin(), rebuilding_.end(), slot) == rebuilding_.end())
    rebuilding_.push_back(slot);
}

bool Copies::awaits_home(ChunkId chunk) const {
  return std::find(rebuilding_.begin(), rebuilding_.end(), slot_of(chunk)) != rebuilding_.end();
}

// ---- Memory

// Bytes that the copy needs beyond those that are counted for it.
std::uint64_t Copies::missing(ChunkId id, const Copy& copy) const {
  std::uint64_t wanted = own(id) ? 0 : copy.bytes;
  if (copy.pushed()) {
    std::uint64_t places =
        Copy::kOwnPlaces + (copy.subscribed ? copy.window + 1 : 0) + (copy.has_bytes ? 1u : 0u);
    wanted = copy.bytes * places;
  }
  return wanted > copy.counted ? wanted - copy.counted : 0;
}

WorkBudget::Room Copies::make_room(ChunkId id, Copy& copy) {
  std::uint64_t more = missing(id, copy);
  if (!has(more) && copy.pushed() && copy.has_bytes) {
    forget_bytes(id, copy);  // those bytes may not be needed, but this memory is
    return make_room(id, copy);
  }
  return make_room(copy, more);
}

WorkBudget::Room Copies::make_room(Copy& copy, std::uint64_t more) {
  while (!has(more)) {
    std::uint64_t oldest = 0;
    Copy* victim = nullptr;
    for (auto& [other_id, other] : copies_) {
      if (&other == &copy || other.counted == 0 || !is_evictable(ChunkId{other_id}, other))
        continue;
      if (victim && other.used >= victim->used) continue;
      victim = &other;
      oldest = other_id;
    }
    if (!victim) break;
    mark(Mark::kEvictedForMemory);
    evict(ChunkId{oldest}, *victim);
  }
  if (!has(more))
    return budget_bytes_ - used_bytes_ + leaving_bytes_ >= more ? Room::kSoon : Room::kNone;
  copy.counted += more;
  used_bytes_ += more;
  return Room::kThere;
}

WorkBudget::Room Copies::reserve(ChunkId chunk, std::uint64_t bytes) {
  return make_room(copies_.at(chunk.value), bytes);
}

void Copies::give_back(ChunkId chunk, std::uint64_t bytes) {
  Copy& copy = copies_.at(chunk.value);
  shrink(copy, copy.counted - bytes);
}

void Copies::evict(ChunkId id, Copy& copy) {
  if (copy.state == State::kInvalid) {
    release(id, copy);
    return;
  }
  bool dirty = copy.state == State::kModified;
  mark(dirty ? Mark::kEvictDirty : Mark::kEvictClean);
  ChunkMessage message{.kind = ChunkKind::kEvict, .chunk = id.value, .version = copy.version};
  copy.state = State::kInvalid;
  copy.blank = false;
  if (dirty && !mutant(Mutant::kEvictWithoutData)) {
    message.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), message);
    copy.evicting = true;
    leaving_bytes_ += copy.counted;
  } else {
    outbox_.send(home_of(id, view_), message);
    release(id, copy);
  }
}

void Copies::end_eviction(Copy& copy) {
  copy.evicting = false;
  leaving_bytes_ -= copy.counted;
}

void Copies::check_invariants() const {
  std::uint64_t used = 0;
  for (const auto& [id, copy] : copies_) {
    used += copy.counted;
    copy.check_invariants();
  }
  TERRANE_CHECK(used == used_bytes_ && used <= budget_bytes_, "copies stay within the budget");
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
