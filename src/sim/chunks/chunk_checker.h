#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/chunks/chunk_program.h"
#include "sim/violation.h"

namespace terrane::sim {

// What every chunk must hold, and who may look at it. Where writers invalidate: one writer or many
// readers over all nodes, who see the last version. Where they push: one writer over all nodes;
// readers of a node never see an older version than one that was seen there before; subscribers get
// versions in order, know how many were left out, and get the last one.
class ChunkChecker {
 public:
  using Words = std::span<const std::uint64_t>;

  void begin(const ChunkProgram& program);
  // What the chunk keeps to from now on, by its home.
  void keeps_to(std::uint32_t chunk, chunks::Coherence coherence) {
    chunks_[chunk].coherence = coherence;
  }

  // A scope opened on these words, in a copy of that version.
  void opened(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t version,
              Words words);
  void subscribed(std::uint32_t thread, std::uint32_t chunk, chunks::Policy policy,
                  chunks::Range range);
  // A subscriber was given a version, and told how many were left out and what has changed.
  void took(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version, std::uint64_t missed,
            chunks::Range changed, Words words);
  // Somebody looks at the words of a reading scope that was opened at that version.
  void looks(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version, Words words) const;
  // The scope ended; of a writing one all words are `stamp`, and it said that `wrote` is new.
  void closed(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t stamp,
              chunks::Range wrote);

  // The chunk was made anew, under another number.
  void remade(std::uint32_t chunk);
  // A home told that what was version `from` (Lost::kNothing: zeros) is `version` from now on.
  void lost(std::uint32_t chunk, std::uint64_t from, std::uint64_t version);
  // A thread died with an open scope.
  void died(std::uint32_t chunk, chunks::Mode mode);
  // Of a pushed chunk: those after this one died with who wrote them, on their way.
  void truncate(std::uint32_t chunk, std::uint64_t version);
  // What a node has seen that has died, nobody remembers.
  void forget_node(std::uint32_t node);

  // The subscriber has the newest version of those that it is to hear of.
  bool took_last(std::uint32_t thread, std::uint32_t chunk) const;
  std::uint64_t last_version(std::uint32_t chunk) const { return chunks_[chunk].stamps.size() - 1; }

 private:
  struct Chunk {
    std::vector<std::uint64_t> stamps;  // what all words are, by version
    std::vector<chunks::Range> wrote;   // what is new in it, as its writer said; by version
    chunks::Coherence coherence = chunks::Coherence::kInvalidate;
    std::uint32_t readers = 0;
    std::uint32_t writers = 0;
    std::array<std::uint64_t, kMaxChunkNodes> seen{};
  };
  struct Taken {
    std::uint64_t last = 0;
    bool block = false;
    chunks::Range range;
  };
  bool touches(std::uint32_t chunk, std::uint64_t version, chunks::Range range) const;
  static void cut(Chunk& chunk, std::uint64_t version);

  const ChunkProgram* program_ = nullptr;
  std::array<Chunk, kMaxChunks> chunks_;
  std::array<Taken, kMaxChunkThreads> taken_;
};

}  // namespace terrane::sim
