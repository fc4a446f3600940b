#include "sim/chunks/node_memory.h"

#include "sim/violation.h"

namespace terrane::sim {

void NodeMemory::provide(chunks::ChunkId chunk, chunks::Place place) {
  At& provided = at(chunk, place);
  if (!provided.there) provided.words.fill(0);
  provided.there = true;
}

void NodeMemory::discard(chunks::ChunkId chunk, chunks::Place place) {
  At& discarded = at(chunk, place);
  discarded.there = false;
  discarded.words.fill(0xdeadull);
}

NodeMemory::At& NodeMemory::at(chunks::ChunkId chunk, chunks::Place place) {
  constexpr std::uint32_t kHomes = 6;
  std::uint32_t at = place.value >= chunks::kHomePlaces
                         ? place.value - chunks::kHomePlaces + kMaxPlaces - kHomes
                         : place.value;
  if (at >= kMaxPlaces || (place.value < chunks::kHomePlaces && at >= kMaxPlaces - kHomes))
    violated(Fault::kBadStep, "node {} uses place {} of chunk {:x}", node_, place.value,
             chunk.value);
  return all_[chunk.value][at];
}

}  // namespace terrane::sim
