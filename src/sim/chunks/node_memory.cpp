#include "sim/chunks/node_memory.h"

#include "sim/violation.h"

namespace terrane::sim {

std::span<std::uint64_t> NodeMemory::words(std::uint32_t chunk, chunks::Place place) {
  return std::span(at(chunk, place).words).first(program_->all[chunk].words);
}

void NodeMemory::provide(std::uint32_t chunk, chunks::Place place, chunks::ChunkId id) {
  At& provided = at(chunk, place);
  if (!provided.there || provided.id != id) provided.words.fill(0);
  provided.there = true;
  provided.id = id;
}

void NodeMemory::discard(std::uint32_t chunk, chunks::Place place) {
  At& discarded = at(chunk, place);
  discarded.there = false;
  discarded.words.fill(0xdeadull);
}

NodeMemory::At& NodeMemory::at(std::uint32_t chunk, chunks::Place place) {
  constexpr std::uint32_t kHomes = 6;
  std::uint32_t at = place.value >= chunks::kHomePlaces
                         ? place.value - chunks::kHomePlaces + kMaxPlaces - kHomes
                         : place.value;
  if (at >= kMaxPlaces || (place.value < chunks::kHomePlaces && at >= kMaxPlaces - kHomes))
    violated(Fault::kBadStep, "node {} uses place {} of chunk {}", node_, place.value, chunk);
  return all_[chunk][at];
}

}  // namespace terrane::sim
