#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "runtime/shmem/segment_directory.h"
#include "runtime/shmem/symmetric_heap.h"
#include "runtime/shmem/symmetric_memory.h"
#include "transport/transport.h"

namespace terrane::runtime::shmem {

// Symmetric memory as the transport reaches it. Owns only the table of addresses; the mappings
// belong to the transport and the World.
class PeerMemory final : public SymmetricMemory {
 public:
  // This PE's own memory.
  struct Own {
    NodeId self;
    std::span<std::byte> heap;
    std::span<std::byte> control;
    const SegmentDirectory* statics = nullptr;
    const SymmetricHeap* blocks = nullptr;  // of the heap
    // Called if an address is not found; true: there are new segments, so search again.
    std::function<bool()> look_for_more;
  };

  // Maps the memory of every PE in reach.
  PeerMemory(const Own& own, std::uint32_t pes, transport::Transport& transport);

  std::optional<SymmetricAddress> locate(const void* address, std::uint64_t bytes) const override;
  bool is_given(SymmetricAddress place, std::uint64_t bytes) const override;
  std::byte* at(NodeId pe, SymmetricAddress place) const override;
  bool in_reach(NodeId pe) const override { return peers_[pe.value][0] != nullptr; }
  bool all_in_reach() const;

  // The distance of each PE's mapped heap from ours, in bytes; PTRDIFF_MIN: it is not mapped.
  std::span<const std::ptrdiff_t> heap_deltas() const { return heap_deltas_; }
  // The same for one segment of static data.
  std::vector<std::ptrdiff_t> segment_deltas(const Segment& segment) const;
  const Own& own() const { return own_; }

 private:
  Own own_;
  std::vector<std::array<std::byte*, kParts>> peers_;  // by PE, by Part
  std::vector<std::ptrdiff_t> heap_deltas_;
};

}  // namespace terrane::runtime::shmem
