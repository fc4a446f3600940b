#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "sim/chunks/chunk_program.h"

namespace terrane::sim {

// The memory of one node: the words of each chunk, once for each place. When a chunk has died,
// there may be a second one of the same name, with memory of its own.
class NodeMemory {
 public:
  using Words = std::array<std::uint64_t, kMaxWords>;

  // `node` is named in violations.
  void begin(std::uint32_t node) { node_ = node; }
  // A violation if there is no such place.
  Words& words(chunks::ChunkId chunk, chunks::Place place) { return at(chunk, place).words; }
  // The place holds the chunk from now on. Its words are zeros, unless it held the chunk before.
  void provide(chunks::ChunkId chunk, chunks::Place place);
  // The content of the place must not be read any more.
  void discard(chunks::ChunkId chunk, chunks::Place place);

 private:
  struct At {
    bool there = false;
    Words words{};
  };
  At& at(chunks::ChunkId chunk, chunks::Place place);

  std::uint32_t node_ = 0;
  std::map<std::uint64_t, std::array<At, kMaxPlaces>> all_;
};

}  // namespace terrane::sim
