#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace terrane::runtime::shmem {

// Copies of more than so many bytes go past the caches. Measured: below, plain copies are faster,
// since the caches take them; twice as much copies 1.4 times as fast this way.
constexpr std::uint64_t kStreamBytes = std::uint64_t{8} << 20;

// As memcpy. All of it is visible to other processes before any later store of this thread.
void copy(void* to, const void* from, std::uint64_t bytes);

// As memcpy, from what is in the nearest cache to memory that is in none near: where the same place
// of many arrays is written in turn, the processor does not see by itself what comes next.
void copy_ahead(void* to, const void* from, std::uint64_t bytes);

// a * b, or more than any memory where that cannot be counted.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  bool counted = !__builtin_mul_overflow(a, b, &product) && product <= PTRDIFF_MAX;
  return counted ? product : PTRDIFF_MAX;
}

// Blocks at regular distances, all in bytes.
struct Strides {
  std::ptrdiff_t to = 0;    // from one block to the next
  std::ptrdiff_t from = 0;  // the same
  std::uint64_t block = 0;
  std::uint64_t count = 0;

  std::uint64_t payload() const { return times(block, count); }
  // From the first byte of the first block to the last byte of the last, for a distance >= 0.
  std::uint64_t span(std::ptrdiff_t stride) const {
    if (payload() == 0) return 0;
    return std::min<std::uint64_t>(times(static_cast<std::uint64_t>(stride), count - 1) + block,
                                   PTRDIFF_MAX);
  }
};

// Copies each block; none overlaps what is still to be read.
void copy_strided(std::byte* to, const std::byte* from, const Strides& strides);

}  // namespace terrane::runtime::shmem
