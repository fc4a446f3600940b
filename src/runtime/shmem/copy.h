#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace terrane::runtime::shmem {

// Copies of more bytes than this bypass the caches. Measured: smaller copies are faster through the
// caches; copies of twice this size are 1.4 times as fast if they bypass them.
constexpr std::uint64_t kStreamBytes = std::uint64_t{8} << 20;

// Like memcpy. All bytes are visible to other processes before any later store of this thread.
void copy(void* to, const void* from, std::uint64_t bytes);

// Like memcpy, from memory in the nearest cache to memory that is in no near cache. Prefetches the
// target: if the same place of many arrays is written in turn, the processor does not predict the
// next address.
void copy_ahead(void* to, const void* from, std::uint64_t bytes);

// a * b, or PTRDIFF_MAX if the product is larger.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  bool counted = !__builtin_mul_overflow(a, b, &product) && product <= PTRDIFF_MAX;
  return counted ? product : PTRDIFF_MAX;
}

// Blocks at regular distances; all sizes in bytes.
struct Strides {
  std::ptrdiff_t to = 0;    // from one block to the next, at the target
  std::ptrdiff_t from = 0;  // from one block to the next, at the source
  std::uint64_t block = 0;
  std::uint64_t count = 0;

  std::uint64_t payload() const { return times(block, count); }
  // From the first byte of the first block to the end of the last block, for a distance >= 0.
  std::uint64_t span(std::ptrdiff_t stride) const {
    if (payload() == 0) return 0;
    return std::min<std::uint64_t>(times(static_cast<std::uint64_t>(stride), count - 1) + block,
                                   PTRDIFF_MAX);
  }
};

// Copies each block. No target overlaps a source that is still to be read.
void copy_strided(std::byte* to, const std::byte* from, const Strides& strides);

}  // namespace terrane::runtime::shmem
