// What the home of a name knows of a chunk that has its home elsewhere: in the slot of which node
// it is. Who asks for the name is sent there.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool ChunkHome::is_needed() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return !entry.second.works(); });
}

bool ChunkHome::find_placed(NodeId from, const ChunkMessage& message, const std::string& name) {
  bool creates = flag(message, wire::kCreateFlag);
  bool works = message.coherence == static_cast<std::uint8_t>(Coherence::kWork);
  auto at = placements_.find(name);
  if (at == placements_.end()) {
    bool places = creates && !works && message.turn != kHomeByName;
    if (!places || names_.contains({message.chunk, name})) return false;
    Placement fresh{.bytes = message.bytes, .coherence = static_cast<Coherence>(message.coherence)};
    if (message.turn != kHomeAtFirst) {
      fresh.slot = view_.name_slots() + message.turn;
      if (!view_.has(NodeId{message.turn}) || fresh.slot >= view_.slots.size()) {
        mark(Mark::kPlaceRefused);
        answer_find(from, message.request, kNoChunk, nullptr, wire::kUnknownFlag);
        return true;
      }
      mark(Mark::kPlacedAtNode);
    }
    at = placements_.emplace(name, fresh).first;
    tell_finders(name, fresh);
  }
  Placement& placement = at->second;
  bool nowhere = placement.slot == Placement::kNowhere;
  bool differs = creates && (placement.bytes != message.bytes ||
                             static_cast<std::uint8_t>(placement.coherence) != message.coherence);
  if ((creates && works) || (nowhere && differs)) {
    answer_find(from, message.request, kNoChunk, nullptr, wire::kMismatchFlag);
    return true;
  }
  bool first = nowhere || mutant(Mutant::kPlacedTwice);
  bool has_slot = view_.name_slots() + from.value < view_.slots.size();
  if (first && flag(message, wire::kHereFlag) && has_slot) {
    mark(Mark::kPlacedAtFirst);
    placement.slot = view_.name_slots() + from.value;
    tell_finders(name, placement);
  } else if (nowhere && flag(message, wire::kPlacedFlag)) {
    mark(Mark::kPlaceAwaited);
    finders_.push_back({name, from, message.request, true});
    return true;
  }
  answer_placed(from, message.request, placement);
  return true;
}

void ChunkHome::answer_placed(NodeId to, std::uint32_t request, const Placement& placement) {
  ChunkMessage answer{.kind = ChunkKind::kFound, .chunk = kNoChunk.value};
  answer.request = request;
  answer.turn = placement.slot;
  if (placement.slot == Placement::kNowhere) {
    answer.flags = wire::kUnplacedFlag;
    answer.coherence = static_cast<std::uint8_t>(placement.coherence);
    answer.bytes = placement.bytes;
  } else {
    answer.flags = wire::kElsewhereFlag;
  }
  outbox_.send(to, answer);
}

void ChunkHome::tell_finders(const std::string& name, const Placement& placement) {
  std::erase_if(finders_, [&](const Finder& finder) {
    bool waits = finder.placed && placement.slot == Placement::kNowhere;
    if (finder.name != name || waits) return false;
    answer_placed(finder.node, finder.number, placement);
    return true;
  });
}

// The home of the name before has died.
bool ChunkHome::named(const ChunkMessage& message, Bytes tail) {
  std::string name(reinterpret_cast<const char*>(tail.data()), tail.size());
  if (tail.empty() || tail.size() > kMaxNameBytes || slot_of(name, view_) != message.chunk ||
      message.turn < view_.name_slots() || message.turn >= view_.slots.size())
    return false;
  mark(Mark::kPlacementTold);
  Placement& placement = placements_[name];
  placement.slot = message.turn;
  tell_finders(name, placement);
  return true;
}

// Where the homes of names have died, their successors hear from here what is placed here: perhaps
// no client knows it.
void ChunkHome::tell_names(std::uint32_t before) {
  if (mutant(Mutant::kPlacementUntold)) return;
  for (const auto& [id, entry] : entries_) {
    if (id >> kSlotShift < view_.name_slots()) continue;
    std::uint32_t by_name = slot_of(entry.name, view_);
    if (view_.slots[by_name].since <= before) continue;
    ChunkMessage named{.kind = ChunkKind::kNamed, .chunk = by_name};
    named.turn = static_cast<std::uint32_t>(id >> kSlotShift);
    outbox_.send(view_.slots[by_name].home, named, std::as_bytes(std::span(entry.name)));
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
