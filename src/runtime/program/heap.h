#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/program/arena.h"
#include "runtime/program/kept_regions.h"

namespace terrane::runtime {

// Blocks that other nodes have freed, on their way to the node that allocated them. Each node has
// one in shared memory, protected by a lock of the job.
struct HeapMail {
  static constexpr std::uint32_t kRoom = 1020;
  std::uint64_t count;
  std::uintptr_t blocks[kRoom];
};

// The memory and the mail that a heap uses.
class HeapMemory {
 public:
  virtual ~HeapMemory() = default;
  // Shared memory, zeroed and page-aligned; nullptr: no memory is left. sparse: it is used as far
  // as it is needed, and may be larger than the memory of all nodes.
  virtual void* take_region(std::uint64_t bytes, bool sparse) = 0;
  virtual void give_region(void* region) = 0;
  // How much all nodes together can keep, about.
  virtual std::uint64_t most_bytes() const { return ~std::uint64_t{0}; }
  // Locks a node's mail and returns it. What other nodes stored in it is visible.
  virtual HeapMail& lock_mail(std::uint32_t node) = 0;
  virtual void unlock_mail(std::uint32_t node) = 0;
};

// One node's side of a heap in shared memory. Blocks that the node allocates come from its own
// arena; any node may free them. All tables are private memory, and no lock is held while shared
// memory is touched, so a fault finds no lock taken. In shared memory there is only a header of 16
// bytes before each block, which is written once. Any thread may call.
class Heap {
 public:
  // Small blocks are cut from regions of this size.
  static constexpr std::uint64_t kChunk = std::uint64_t{64} << 20;

  // most_kept: bytes of large blocks that the program has freed and that this node keeps for reuse.
  Heap(std::uint32_t self, std::uint32_t nodes, HeapMemory& memory, std::uint64_t most_kept);

  // nullptr: no memory is left. `alignment`: a power of two; every block is aligned to at least 16.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = kAlignment);
  // The same, with all bytes zero.
  void* allocate_zeroed(std::uint64_t bytes);
  // A block of another size that begins with the same bytes. nullptr: no memory is left, and the
  // old block is still valid. A large block that grows gets addresses for several times its size,
  // so that it can grow on in place: what it does not use is no memory.
  void* resize(void* block, std::uint64_t bytes);
  // False: it is no block of this heap, or is free already.
  bool free(void* block);
  // The size of the block.
  std::uint64_t bytes_of(const void* block) const;

 private:
  static constexpr std::uint64_t kAlignment = 16;
  // From this size on a block is a region of its own, which begins at a page.
  static constexpr std::uint64_t kRegion = std::uint64_t{1} << 20;
  static constexpr std::size_t kMostKept = 64;
  static constexpr std::uint64_t kMostKeptBytes = 256 << 10;

  // Stored before each block, in shared memory.
  struct Header {
    std::uint64_t bytes;  // of the whole allocation, with header and alignment
    std::uint32_t lead;   // from the start of the allocation to the block
    std::uint16_t node;   // the node that allocated it
    std::uint16_t mark;
  };
  static_assert(sizeof(Header) == kAlignment);
  // Stored at the start of the region of a large block: how large the block can become.
  using Capacity = std::uint64_t;
  static constexpr std::uint16_t kBlock = 0xa110, kOwnRegion = 0xa117, kFreed = 0xf4ee;
  // Blocks that were freed here and allocated by another node.
  struct Outgoing {
    std::vector<std::uintptr_t> blocks;
    std::uint64_t bytes = 0;
  };

  void* large(std::uint64_t bytes, std::uint64_t alignment, bool zeroed);
  void* take_region(std::uint64_t bytes, bool sparse);
  void* begin_large(std::uintptr_t region, std::uint64_t bytes, std::uint64_t lead);
  bool resize_in_place(void* block, std::uint64_t bytes);
  void* take_growing(std::uint64_t bytes);
  void give_large(std::uintptr_t begin, const Header& header);
  void give_regions(const std::vector<KeptRegions::Region>& regions);
  bool grow(std::uint64_t bytes);
  bool receive();
  void send(std::uint32_t node, std::uintptr_t block, std::uint64_t bytes);
  static Header* header_of(void* block) { return static_cast<Header*>(block) - 1; }

  const std::uint32_t self_;
  HeapMemory& memory_;
  std::mutex mutex_;  // of arena_, outgoing_ and kept_
  Arena arena_;
  std::vector<Outgoing> outgoing_;  // by node
  KeptRegions kept_;
  std::mutex growing_;  // only one thread at a time requests a region
};

}  // namespace terrane::runtime
