#pragma once

#include <memory>
#include <mutex>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/mapping.h"
#include "runtime/shmem/free_ranges.h"

namespace terrane::runtime::shmem {

// This PE's symmetric heap: address space for more than the machine has, backed as it is touched,
// and the table of its blocks. Owns both. Every PE makes the same calls in the same order; so all
// give the same offsets. Any thread.
class SymmetricHeap {
 public:
  // Address space for a heap as large as the machine's memory, or as `at_least` where that is more,
  // and for the heaps of all `on_host` PEs of this host in each of them; less, where the process
  // may not have so much.
  static base::Result<std::unique_ptr<SymmetricHeap>> reserve(std::uint64_t at_least,
                                                              std::uint32_t on_host);

  int fd() const { return fd_.get(); }
  std::byte* data() const { return mapping_.data(); }
  std::uint64_t reserved_bytes() const { return mapping_.bytes(); }
  // What every PE has reserved; before the first block.
  void agree_on(std::uint64_t bytes);

  // As FreeRanges, whose calls they are. What is given back in large pieces goes back to the
  // machine. `zeroed`: the block holds zeros.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment, bool zeroed);
  void give_back(std::uint64_t offset);
  bool resize(std::uint64_t offset, std::uint64_t bytes);
  std::optional<std::uint64_t> size_at(std::uint64_t offset) const;
  bool inside_block(std::uint64_t offset, std::uint64_t bytes) const;
  // Ends all blocks.
  void clear();

  // Whether the machine can back `more` bytes on every PE of this host, besides what their blocks
  // hold and have not touched so far. Small requests are granted out of a larger one.
  bool affords(std::uint64_t more);

 private:
  SymmetricHeap(base::UniqueFd fd, platform::SharedMapping mapping, std::uint32_t on_host);
  // Gives a large piece back to the machine; nothing of a small one.
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
  std::uint64_t untouched_from_ = 0;  // no block ever reached beyond: zeros
};

}  // namespace terrane::runtime::shmem
