#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {

// Numbers for chunks that have no home yet: the first subscriber will be the home. A number is
// valid on this node only, also after the node knows the chunk's home. Any thread may call.
class Unplaced {
 public:
  struct Chunk {
    std::string name;
    std::uint64_t bytes = 0;
    machine::Coherence coherence = machine::Coherence::kInvalidate;
    ChunkId placed = machine::kNoChunk;  // its number at all nodes, once it has a home
  };

  static bool is_number(ChunkId chunk) {
    return chunk.value >> machine::kSlotShift == kSlot && chunk != machine::kNoChunk;
  }
  // The same name always gives the same number.
  ChunkId number_of(const Chunk& chunk) {
    std::lock_guard hold(mutex_);
    std::size_t at = 0;
    while (at < all_.size() && all_[at].name != chunk.name) ++at;
    if (at == all_.size()) all_.push_back(chunk);
    return ChunkId{kSlot << machine::kSlotShift | at};
  }
  std::optional<Chunk> look(ChunkId number) const {
    std::lock_guard hold(mutex_);
    std::uint64_t at = number.value & ((1ull << machine::kSlotShift) - 1);
    if (!is_number(number) || at >= all_.size()) return std::nullopt;
    return all_[at];
  }
  void place(ChunkId number, ChunkId placed) {
    std::lock_guard hold(mutex_);
    all_[number.value & ((1ull << machine::kSlotShift) - 1)].placed = placed;
  }

 private:
  static constexpr std::uint64_t kSlot = 4095;  // no view has this slot

  mutable std::mutex mutex_;
  std::vector<Chunk> all_;
};

}  // namespace terrane::runtime::chunks
