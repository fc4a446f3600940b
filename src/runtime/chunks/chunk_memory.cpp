#include "runtime/chunks/chunk_memory.h"

#include <cstring>

#include "base/check.h"

namespace terrane::runtime::chunks {

void ChunkMemory::provide(ChunkId chunk, Place place, std::uint64_t bytes) {
  places_.try_emplace({chunk.value, place.value}, Held{bytes, nullptr});
}

void ChunkMemory::discard(ChunkId chunk, Place place) { places_.erase({chunk.value, place.value}); }

void ChunkMemory::alias(ChunkId chunk, Place from, Place to) {
  auto at = places_.find({chunk.value, from.value});
  TERRANE_CHECK(at != places_.end(), "what is copied is there");
  Held held = at->second;
  places_.insert_or_assign({chunk.value, to.value}, std::move(held));
}

void ChunkMemory::put(ChunkId chunk, Place place, BufferRef buffer) {
  Held& held = places_[{chunk.value, place.value}];
  held.bytes = buffer->bytes();
  held.buffer = std::move(buffer);
}

base::Result<> ChunkMemory::fill(ChunkId chunk, Place place, protocol::Bytes bytes) {
  if (bytes.empty()) return {};
  provide(chunk, place, bytes.size());
  auto buffer = open(chunk, place, Old::kReplace, true);
  if (!buffer) return buffer.error();
  std::memcpy(buffer.value()->data(), bytes.data(), bytes.size());
  return {};
}

base::Result<BufferRef> ChunkMemory::look(ChunkId chunk, Place place) {
  auto at = places_.find({chunk.value, place.value});
  TERRANE_CHECK(at != places_.end(), "what is looked at is there");
  Held& held = at->second;
  if (held.buffer || held.bytes == 0) return held.buffer;
  auto made = pool_.allocate(held.bytes, true);
  if (made) held.buffer = made.value();
  return made;
}

base::Result<BufferRef> ChunkMemory::open(ChunkId chunk, Place place, Old old, bool alone) {
  auto at = places_.find({chunk.value, place.value});
  TERRANE_CHECK(at != places_.end(), "what is written is there");
  Held& held = at->second;
  if (held.bytes == 0) return BufferRef();
  bool fits = held.buffer && (!alone || (held.buffer.use_count() == 1 && held.buffer->is_sole()));
  if (fits) return held.buffer;
  auto made = pool_.allocate(held.bytes, old == Old::kKeep && !held.buffer);
  if (!made) return made;
  if (old == Old::kKeep && held.buffer)
    std::memcpy(made.value()->data(), held.buffer->data(), held.bytes);
  held.buffer = made.value();
  return made;
}

}  // namespace terrane::runtime::chunks
