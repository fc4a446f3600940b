#pragma once

#include <unordered_map>

#include "protocol/chunks/chunk_effects.h"
#include "runtime/chunks/buffer_pool.h"

namespace terrane::runtime::chunks {

using protocol::chunks::ChunkId;
using protocol::chunks::Place;

// The bytes of this node's copies of chunks: one buffer for each place that the protocol has asked
// for. Places with the same version share one buffer, on one node and on all nodes of a host. A
// scope that is about to write may get a buffer of its own. Called under the node's mutex.
class ChunkMemory {
 public:
  explicit ChunkMemory(BufferPool& pool) : pool_(pool) {}

  void provide(ChunkId chunk, Place place, std::uint64_t bytes);
  void discard(ChunkId chunk, Place place);
  // From now on both places of the chunk hold the same bytes.
  void alias(ChunkId chunk, Place from, Place to);
  // Stores the buffer in the place.
  void put(ChunkId chunk, Place place, BufferRef buffer);
  // Stores a copy of these bytes in the place.
  base::Result<> fill(ChunkId chunk, Place place, protocol::Bytes bytes);
  // The buffer to read or to send; zeros if nothing was written. nullptr: the chunk has no bytes.
  base::Result<BufferRef> look(ChunkId chunk, Place place);
  // The buffer to write. kKeep: with its current bytes; kReplace: all bytes will be written.
  // `alone`: a buffer with no other holder.
  enum class Old { kKeep, kReplace };
  base::Result<BufferRef> open(ChunkId chunk, Place place, Old old, bool alone);

  void clear() { places_.clear(); }

 private:
  struct Key {
    std::uint64_t chunk;
    std::uint32_t place;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.chunk + key.place) * 0x9e3779b97f4a7c15u >> 17;
    }
  };
  struct Held {
    std::uint64_t bytes = 0;
    BufferRef buffer;  // nullptr: all bytes are zero
  };

  BufferPool& pool_;
  std::unordered_map<Key, Held, Hash> places_;
};

}  // namespace terrane::runtime::chunks
