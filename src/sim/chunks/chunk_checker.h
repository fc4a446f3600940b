#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/chunks/chunk_program.h"
#include "sim/violation.h"

namespace terrane::sim {

// What every chunk must hold, and who may look at it: one writer or many readers, over all nodes;
// no version is lost, none comes back.
class ChunkChecker {
 public:
  using Words = std::span<const std::uint64_t>;

  void begin(const ChunkProgram& program);

  // A scope opened on these words, in a copy of that version.
  void opened(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t version,
              Words words);
  // Somebody looks at the words of an open reading scope.
  void looks(std::uint32_t thread, std::uint32_t chunk, Words words) const;
  // The scope ended; of a writing one all words are `stamp`.
  void closed(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t stamp);

 private:
  struct Chunk {
    std::uint64_t stamp = 0;  // in all words
    std::uint64_t version = 0;
    std::uint32_t readers = 0;
    std::uint32_t writers = 0;
  };
  std::array<Chunk, kMaxChunks> chunks_;
};

}  // namespace terrane::sim
