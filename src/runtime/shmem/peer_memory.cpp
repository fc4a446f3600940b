#include "runtime/shmem/peer_memory.h"

#include <algorithm>

namespace terrane::runtime::shmem {
namespace {

constexpr std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// The distance between two mappings, which pointer arithmetic must not span.
std::ptrdiff_t delta(const void* from, const void* to) {
  return static_cast<std::ptrdiff_t>(number(to) - number(from));
}

}  // namespace

PeerMemory::PeerMemory(const Own& own, std::uint32_t pes, transport::Transport& transport)
    : own_(own), peers_(pes) {
  for (std::uint32_t pe = 0; pe < pes; ++pe) {
    bool is_self = pe == own.self.value;
    std::array<std::byte*, kParts> parts{};
    for (std::uint32_t part = 0; part < kParts; ++part)
      parts[part] = transport.reach(NodeId{pe}, part);
    if (is_self) {
      parts[index_of(Part::kHeap)] = own.heap.data();
      parts[index_of(Part::kControl)] = own.control.data();
    }
    // All parts or none: in_reach() is one answer for all of them.
    bool all = std::all_of(parts.begin(), parts.end(), [](auto* part) { return part != nullptr; });
    if (all || is_self) peers_[pe] = parts;
    heap_deltas_.push_back(all || is_self ? delta(own.heap.data(), parts[index_of(Part::kHeap)])
                                          : PTRDIFF_MIN);
  }
}

bool PeerMemory::all_in_reach() const {
  return std::all_of(peers_.begin(), peers_.end(), [](auto& parts) { return parts[0] != nullptr; });
}

std::optional<SymmetricAddress> PeerMemory::locate(const void* address, std::uint64_t bytes) const {
  std::uint64_t from_heap = number(address) - number(own_.heap.data());
  if (from_heap < own_.heap.size()) {
    if (bytes > own_.heap.size() - from_heap) return std::nullopt;
    return SymmetricAddress{Part::kHeap, from_heap};
  }
  auto offset = own_.statics->locate(number(address), bytes);
  if (!offset && own_.look_for_more && own_.look_for_more())
    offset = own_.statics->locate(number(address), bytes);
  if (!offset) return std::nullopt;
  return SymmetricAddress{Part::kStatics, *offset};
}

bool PeerMemory::is_given(SymmetricAddress place, std::uint64_t bytes) const {
  return place.part != Part::kHeap || own_.blocks->inside_block(place.offset, bytes);
}

std::byte* PeerMemory::at(NodeId pe, SymmetricAddress place) const {
  if (pe == own_.self && place.part == Part::kStatics) return own_.statics->at(place.offset);
  std::byte* part = peers_[pe.value][index_of(place.part)];
  return part == nullptr ? nullptr : part + place.offset;
}

std::vector<std::ptrdiff_t> PeerMemory::segment_deltas(const Segment& segment) const {
  std::vector<std::ptrdiff_t> deltas;
  for (std::uint32_t pe = 0; pe < peers_.size(); ++pe) {
    std::byte* there = at(NodeId{pe}, {Part::kStatics, segment.offset});
    deltas.push_back(there == nullptr
                         ? PTRDIFF_MIN
                         : static_cast<std::ptrdiff_t>(number(there) - segment.address));
  }
  return deltas;
}

}  // namespace terrane::runtime::shmem
