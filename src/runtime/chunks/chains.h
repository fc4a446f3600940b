#pragma once

#include "runtime/chunks/meetings.h"

namespace terrane::runtime::chunks {

// Large data under one name, divided into pieces that are ordinary chunks ("NAME[0]", ...), each
// with its own home. A chunk that programs do not see has the chain's shape. Any thread may call.
// The ChunkNode and the `Meetings` outlive it.
class Chains {
 public:
  struct Shape {
    std::uint64_t bytes = 0;        // of all pieces
    std::uint64_t piece_bytes = 0;  // of each; the last one may be shorter
    machine::Coherence coherence = machine::Coherence::kInvalidate;
    std::uint64_t made_bytes = 0;  // before the first append()

    std::uint64_t pieces() const { return (bytes + piece_bytes - 1) / piece_bytes; }
  };
  static constexpr std::uint64_t kMostPieces = 1u << 20;

  Chains(ChunkNode& node, Meetings& meetings) : node_(node), meetings_(meetings) {}

  // Creates the chain with all its pieces. existed: it was there already, with that shape.
  Outcome create(std::string_view name, const Shape& shape, ChunkId& chain, bool& existed);
  // Waits until the chain has all its pieces.
  Outcome find(std::string_view name, std::int64_t timeout_ns, ChunkId& chain);
  // The current shape: other threads and nodes may append to the chain.
  Outcome shape(ChunkId chain, Shape& shape);
  Outcome piece(ChunkId chain, std::uint64_t index, ChunkId& chunk);
  // Adds `bytes` in new pieces, of which `first` is the first. The last old piece must be full.
  Outcome append(ChunkId chain, std::uint64_t bytes, std::uint64_t& first);

 private:
  Outcome name_of(ChunkId chain, std::string& name) const;
  Outcome read(ChunkId chain, Shape& shape);
  Outcome make_pieces(const std::string& name, const Shape& shape, std::uint64_t from);

  ChunkNode& node_;
  Meetings& meetings_;
};

}  // namespace terrane::runtime::chunks
