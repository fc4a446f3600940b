#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/chunks/chunk_program.h"

namespace terrane::sim {

// The memory of one node: the words of each chunk of the program, once for each place.
class NodeMemory {
 public:
  // The node's number is said where it uses a place that there is not.
  void begin(std::uint32_t node, const ChunkProgram& program) {
    node_ = node;
    program_ = &program;
  }
  // All of the chunk's words at the place. A violation: there is no such place.
  std::span<std::uint64_t> words(std::uint32_t chunk, chunks::Place place);
  // The place is for the chunk with number `id` from now on: zeros, unless it was so before.
  void provide(std::uint32_t chunk, chunks::Place place, chunks::ChunkId id);
  // What lies there must not be looked at any more.
  void discard(std::uint32_t chunk, chunks::Place place);

 private:
  struct At {
    bool there = false;
    chunks::ChunkId id;
    std::array<std::uint64_t, kMaxWords> words{};
  };
  At& at(std::uint32_t chunk, chunks::Place place);

  std::uint32_t node_ = 0;
  const ChunkProgram* program_ = nullptr;
  std::array<std::array<At, kMaxPlaces>, kMaxChunks> all_;
};

}  // namespace terrane::sim
