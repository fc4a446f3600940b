#include "protocol/chunks/placements.h"

#include <algorithm>
#include <iterator>

#include "protocol/chunks/slots.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool Placements::find(NodeId from, const ChunkMessage& message, const std::string& name,
                      bool has_chunk) {
  bool creates = flag(message, wire::kCreateFlag);
  bool works = message.coherence == static_cast<std::uint8_t>(Coherence::kWork);
  auto at = placements_.find(name);
  if (at == placements_.end()) {
    bool places = creates && !works && message.turn != kHomeByName;
    if (!places || has_chunk) return false;
    Placement fresh{.bytes = message.bytes, .coherence = static_cast<Coherence>(message.coherence)};
    if (message.turn != kHomeAtFirst) {
      fresh.slot = view_.name_slots() + message.turn;
      if (!view_.has(NodeId{message.turn}) || fresh.slot >= view_.slots.size()) {
        mark(Mark::kPlaceRefused);
        refuse(from, message.request, wire::kUnknownFlag);
        return true;
      }
      mark(Mark::kPlacedAtNode);
    }
    at = placements_.emplace(name, fresh).first;
    answer_finders(name, fresh);
  }
  Placement& placement = at->second;
  bool nowhere = placement.slot == Placement::kNowhere;
  bool differs = creates && (placement.bytes != message.bytes ||
                             static_cast<std::uint8_t>(placement.coherence) != message.coherence);
  if ((creates && works) || (nowhere && differs)) {
    refuse(from, message.request, wire::kMismatchFlag);
    return true;
  }
  bool first = nowhere || mutant(Mutant::kPlacedTwice);
  bool has_slot = view_.name_slots() + from.value < view_.slots.size();
  if (first && flag(message, wire::kHereFlag) && has_slot) {
    mark(Mark::kPlacedAtFirst);
    placement.slot = view_.name_slots() + from.value;
    answer_finders(name, placement);
  } else if (nowhere && flag(message, wire::kPlacedFlag)) {
    mark(Mark::kPlaceAwaited);
    await({name, from, message.request, true});
    return true;
  }
  answer(from, message.request, placement);
  return true;
}

void Placements::answer(NodeId to, std::uint32_t request, const Placement& placement) {
  ChunkMessage found{.kind = ChunkKind::kFound, .chunk = kNoChunk.value};
  found.request = request;
  found.turn = placement.slot;
  if (placement.slot == Placement::kNowhere) {
    found.flags = wire::kUnplacedFlag;
    found.coherence = static_cast<std::uint8_t>(placement.coherence);
    found.bytes = placement.bytes;
  } else {
    found.flags = wire::kElsewhereFlag;
  }
  outbox_.send(to, found);
}

void Placements::refuse(NodeId to, std::uint32_t request, std::uint8_t flags) {
  ChunkMessage found{.kind = ChunkKind::kFound, .flags = flags, .chunk = kNoChunk.value};
  found.request = request;
  outbox_.send(to, found);
}

void Placements::answer_finders(const std::string& name, const Placement& placement) {
  std::erase_if(finders_, [&](const Finder& finder) {
    bool waits = finder.placed && placement.slot == Placement::kNowhere;
    if (finder.name != name || waits) return false;
    answer(finder.node, finder.number, placement);
    return true;
  });
}

// The former home of the name has died.
bool Placements::named(const ChunkMessage& message, Bytes tail) {
  std::string name(reinterpret_cast<const char*>(tail.data()), tail.size());
  if (tail.empty() || tail.size() > kMaxNameBytes || slot_of(name, view_) != message.chunk ||
      message.turn < view_.name_slots() || message.turn >= view_.slots.size())
    return false;
  mark(Mark::kPlacementTold);
  Placement& placement = placements_[name];
  placement.slot = message.turn;
  answer_finders(name, placement);
  return true;
}

std::vector<Finder> Placements::take_finders(const std::string& name) {
  auto has_name = [&](const Finder& finder) { return finder.name == name; };
  std::vector<Finder> taken;
  std::copy_if(finders_.begin(), finders_.end(), std::back_inserter(taken), has_name);
  std::erase_if(finders_, has_name);
  return taken;
}

void Placements::forget_finders(NodeId dead) {
  std::erase_if(finders_, [&](const Finder& finder) { return finder.node == dead; });
}

void tell_placement(ChunkId chunk, const std::string& name, const View& view, std::uint32_t before,
                    ChunkOutbox& outbox) {
  if (mutant(Mutant::kPlacementUntold)) return;
  auto slot = static_cast<std::uint32_t>(chunk.value >> kSlotShift);
  std::uint32_t by_name = slot_of(name, view);
  if (slot < view.name_slots() || view.slots[by_name].since <= before) return;
  ChunkMessage named{.kind = ChunkKind::kNamed, .chunk = by_name};
  named.turn = slot;
  outbox.send(view.slots[by_name].home, named, std::as_bytes(std::span(name)));
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
