#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/chunks/chunk_program.h"
#include "sim/violation.h"

namespace terrane::sim {

// Checks what every chunk must hold, and which threads may look at it. Where writers invalidate:
// one writer or many readers over all nodes, and they see the last version. Where writers push: one
// writer over all nodes; readers of a node never see an older version than one that was seen there
// before; subscribers get versions in order, know how many were left out, and get the last one.
class ChunkChecker {
 public:
  using Words = std::span<const std::uint64_t>;

  void begin(const ChunkProgram& program);
  // The chunk's coherence from now on, as its home has decided.
  void keeps_to(std::uint32_t chunk, chunks::Coherence coherence) {
    chunks_[chunk].coherence = coherence;
  }

  // A scope was opened on a copy of that version; `words` is its content.
  void opened(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t version,
              Words words);
  // The thread has subscribed: of what is written from now on, nothing may come before the first
  // version that it takes.
  void subscribed(std::uint32_t thread, std::uint32_t chunk, chunks::Policy policy,
                  chunks::Range range);
  // A subscriber took a version. `missed`: how many were left out; `changed`: the reported changes.
  void took(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version, std::uint64_t missed,
            chunks::Range changed, Words words);
  // A thread looks at the words of a reading scope that was opened at that version.
  void looks(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version, Words words) const;
  // The scope ended. After a writing scope all words are `stamp`; `wrote` is what its writer said
  // is new.
  void closed(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode, std::uint64_t stamp,
              chunks::Range wrote);

  // The chunk was created again, under another number.
  void remade(std::uint32_t chunk);
  // A home reported that the content of version `from` (Lost::kNothing: zeros) is now `version`.
  void lost(std::uint32_t chunk, std::uint64_t from, std::uint64_t version);
  // A thread died with an open scope.
  void died(std::uint32_t chunk, chunks::Mode mode);
  // Of a pushed chunk: versions after this one were lost on their way, with the nodes that wrote
  // them.
  void truncate(std::uint32_t chunk, std::uint64_t version);
  // The node died: no node remembers what it has seen.
  void forget_node(std::uint32_t node);

  // Whether the subscriber has the newest version that changed its range.
  bool took_last(std::uint32_t thread, std::uint32_t chunk) const;
  std::uint64_t last_version(std::uint32_t chunk) const { return chunks_[chunk].stamps.size() - 1; }

 private:
  struct Chunk {
    std::vector<std::uint64_t> stamps;  // by version: the value of all words
    std::vector<chunks::Range> wrote;   // by version: what is new in it, as its writer said
    chunks::Coherence coherence = chunks::Coherence::kInvalidate;
    std::uint32_t readers = 0;
    std::uint32_t writers = 0;
    std::array<std::uint64_t, kMaxChunkNodes> seen{};
  };
  struct Taken {
    std::uint64_t last = 0;
    std::uint64_t since = 0;  // the last version when it had subscribed
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
