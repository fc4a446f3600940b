#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "sim/chunks/chunk_program.h"

namespace terrane::sim {

// The memory of one node: the words of each chunk, once for each place. Where a chunk has died
// there may be a second one of its name, with memory of its own.
class NodeMemory {
 public:
  using Words = std::array<std::uint64_t, kMaxWords>;

  // The node's number is said where it uses a place that there is not.
  void begin(std::uint32_t node) { node_ = node; }
  // A violation: there is no such place.
  Words& words(chunks::ChunkId chunk, chunks::Place place) { return at(chunk, place).words; }
  // The place holds the chunk from now on: zeros, unless it did so before.
  void provide(chunks::ChunkId chunk, chunks::Place place);
  // What lies there must not be looked at any more.
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
