#pragma once

#include <unordered_map>

#include "protocol/chunks/chunk_effects.h"
#include "runtime/chunks/buffer_pool.h"

namespace terrane::runtime::chunks {

using protocol::chunks::ChunkId;
using protocol::chunks::Place;

// Where the bytes of this node's copies of chunks are: one buffer for each place that the protocol
// has asked for. Places that hold the same version hold the same buffer, on one node and on all
// nodes of a host; a scope that is about to write one gets it alone. Under the node's mutex.
class ChunkMemory {
 public:
  explicit ChunkMemory(BufferPool& pool) : pool_(pool) {}

  void provide(ChunkId chunk, Place place, std::uint64_t bytes);
  void discard(ChunkId chunk, Place place);
  // Two places of a chunk hold the same from now on.
  void alias(ChunkId chunk, Place from, Place to);
  // The place holds this buffer.
  void put(ChunkId chunk, Place place, BufferRef buffer);
  // The place holds a copy of these bytes.
  base::Result<> fill(ChunkId chunk, Place place, protocol::Bytes bytes);
  // The bytes to read or to send; zeros where nobody has written any. nullptr: the chunk has none.
  base::Result<BufferRef> look(ChunkId chunk, Place place);
  // The bytes to write. kKeep: as they are now; kReplace: all of them will be written. `alone`: not
  // in memory that anybody else looks at.
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
    BufferRef buffer;  // none: zeros
  };

  BufferPool& pool_;
  std::unordered_map<Key, Held, Hash> places_;
};

}  // namespace terrane::runtime::chunks
