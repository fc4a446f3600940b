#pragma once

#include <memory>
#include <mutex>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/mapping.h"
#include "runtime/shmem/free_ranges.h"

namespace terrane::runtime::shmem {

// This PE's symmetric heap: address space for more than the machine's memory, which gets memory
// when it is touched, and the table of its blocks. Owns both. Every PE makes the same calls in the
// same order, so all get the same offsets. Any thread may call.
class SymmetricHeap {
 public:
  // Reserves address space for a heap as large as the machine's memory, or as `at_least` if that is
  // more. The limit of the process must permit that much for each of the `on_host` PEs of this
  // host, because each maps all of them; otherwise the heap is smaller.
  static base::Result<std::unique_ptr<SymmetricHeap>> reserve(std::uint64_t at_least,
                                                              std::uint32_t on_host);

  int fd() const { return fd_.get(); }
  std::byte* data() const { return mapping_.data(); }
  std::uint64_t reserved_bytes() const { return mapping_.bytes(); }
  // Sets the size that every PE has reserved. Called before the first block.
  void agree_on(std::uint64_t bytes);

  // Calls of FreeRanges. A large block that is given back returns its memory to the machine.
  // zeroed: all bytes of the block are zero.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment, bool zeroed);
  void give_back(std::uint64_t offset);
  bool resize(std::uint64_t offset, std::uint64_t bytes);
  std::optional<std::uint64_t> size_at(std::uint64_t offset) const;
  bool inside_block(std::uint64_t offset, std::uint64_t bytes) const;
  // Frees all blocks.
  void clear();

  // Whether the machine has memory for `more` bytes on every PE of this host, besides the bytes of
  // their blocks that were not touched yet. Small requests are taken from a larger grant.
  bool affords(std::uint64_t more);

 private:
  SymmetricHeap(base::UniqueFd fd, platform::SharedMapping mapping, std::uint32_t on_host);
  // Returns the memory of a large piece to the machine; does nothing for a small one.
  void punch(std::uint64_t offset, std::uint64_t bytes);
  void zero(std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t resident_bytes() const;

  base::UniqueFd fd_;
  platform::SharedMapping mapping_;
  std::uint32_t on_host_;
  mutable std::mutex mutex_;
  FreeRanges ranges_;
  std::uint64_t limit_;
  std::uint64_t granted_ = 0;         // bytes that the machine had, and no request has used
  std::uint64_t untouched_from_ = 0;  // no block has ever reached beyond: zeros
};

}  // namespace terrane::runtime::shmem
