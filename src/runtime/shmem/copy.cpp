#include "runtime/shmem/copy.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace terrane::runtime::shmem {

namespace {

constexpr std::uint64_t kLine = 64;
// Prefetch distance. Half a page: the next page's address is translated before it is needed.
constexpr std::uint64_t kAheadBytes = 2048;

#if defined(__SSE2__)

void stream_line(std::byte* to, const std::byte* from) {
  auto* in = reinterpret_cast<const __m128i*>(from);
  auto* out = reinterpret_cast<__m128i*>(to);
  __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
  __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
  _mm_stream_si128(out, a);
  _mm_stream_si128(out + 1, b);
  _mm_stream_si128(out + 2, c);
  _mm_stream_si128(out + 3, d);
}

// Copies four pages at a time, a line of each in turn, so that the processor prefetches in all
// four. Measured on 32 and 64 MiB: 0.7 and 0.9 of memcpy's time; line after line takes 0.85 and
// 1.1.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPages = 4;

void stream_pages(std::byte* to, const std::byte* from) {
  for (std::uint64_t line = 0; line < kPage; line += kLine) {
    for (std::uint64_t at = line; at < kPages * kPage; at += kPage) stream_line(to + at, from + at);
  }
}

void stream(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  std::uint64_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  std::memcpy(to, from, head);
  std::uint64_t at = head;
  for (; at + kPages * kPage <= bytes; at += kPages * kPage) stream_pages(to + at, from + at);
  for (; at + kLine <= bytes; at += kLine) stream_line(to + at, from + at);
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();  // such stores are not ordered with others
}
#else
void stream(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
}
#endif

// Half a line, as a vector register and as unaligned memory.
typedef long Half __attribute__((vector_size(32)));
struct __attribute__((packed, may_alias)) Stored {
  Half half;
};

// Copies a cache line at a time.
inline __attribute__((always_inline)) void copy_lines(std::byte* to, const std::byte* from,
                                                      std::uint64_t bytes) {
  std::uint64_t at = 0;
  for (; at + kLine <= bytes; at += kLine) {
    __builtin_prefetch(to + at + kAheadBytes, 1);
    auto* in = reinterpret_cast<const Stored*>(from + at);
    auto* out = reinterpret_cast<Stored*>(to + at);
    Half first = in[0].half, second = in[1].half;
    out[0].half = first;
    out[1].half = second;
  }
  std::memcpy(to + at, from + at, bytes - at);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void copy_lines_avx2(std::byte* to, const std::byte* from,
                                                     std::uint64_t bytes) {
  copy_lines(to, from, bytes);
}
const bool has_avx2 = __builtin_cpu_supports("avx2");
#endif

// The compiler makes one load and one store of a block whose size it knows.
template <std::uint64_t kBlock>
void copy_blocks(std::byte* to, const std::byte* from, const Strides& strides) {
  for (std::uint64_t i = 0; i < strides.count; ++i) {
    std::memcpy(to, from, kBlock);
    to += strides.to;
    from += strides.from;
  }
}

}  // namespace

void copy(void* to, const void* from, std::uint64_t bytes) {
  if (bytes > kStreamBytes) {
    return stream(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
  std::memcpy(to, from, bytes);
}

void copy_ahead(void* to, const void* from, std::uint64_t bytes) {
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(from);
#if defined(__x86_64__)
  if (has_avx2) return copy_lines_avx2(out, in, bytes);
#endif
  copy_lines(out, in, bytes);
}

void copy_strided(std::byte* to, const std::byte* from, const Strides& strides) {
  auto block = static_cast<std::ptrdiff_t>(strides.block);
  if (strides.to == block && strides.from == block) return copy(to, from, strides.payload());
  switch (strides.block) {
    case 1:
      return copy_blocks<1>(to, from, strides);
    case 2:
      return copy_blocks<2>(to, from, strides);
    case 4:
      return copy_blocks<4>(to, from, strides);
    case 8:
      return copy_blocks<8>(to, from, strides);
    case 16:
      return copy_blocks<16>(to, from, strides);
    default:
      for (std::uint64_t i = 0; i < strides.count; ++i) {
        std::memcpy(to, from, strides.block);
        to += strides.to;
        from += strides.from;
      }
  }
}

}  // namespace terrane::runtime::shmem
