#pragma once

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sides.h"

// Ways to copy memory, as POSH offered them (its paper, table 1: memcpy, MMX, MMX2, SSE): what our
// put is compared with. Sizes are multiples of 64 bytes, or less than that; no memory overlaps.
namespace terrane::bench::sides {

__attribute__((noinline,
               optimize("no-tree-vectorize", "no-tree-loop-distribute-patterns"))) inline void
copy_by_words(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + i, 8);
    std::memcpy(to + i, &word, 8);
  }
}

template <bool kPastCaches>
__attribute__((noinline)) void copy_by_sse(char* to, const char* from, std::size_t bytes) {
  if (bytes < 64) return copy_by_words(to, from, bytes);
  for (std::size_t i = 0; i < bytes; i += 16) {
    __m128i piece = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    auto* out = reinterpret_cast<__m128i*>(to + i);
    if constexpr (kPastCaches) {
      _mm_stream_si128(out, piece);
    } else {
      _mm_storeu_si128(out, piece);
    }
  }
  if constexpr (kPastCaches) _mm_sfence();
}

__attribute__((noinline)) inline void copy_by_string(char* to, const char* from,
                                                     std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// To `there`, which is 16-aligned, from `here`; both of kMostBytes.
inline void measure_copy_variants(char* there, const char* here) {
  using Copy = void (*)(char*, const char*, std::size_t);
  auto by_memcpy = [](char* to, const char* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
  };
  for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20, kMostBytes}) {
    unknown_bytes = bytes;
    std::vector<Row> rows;
    auto add = [&](const char* name, Copy copy) {
      rows.push_back(row(name, "heap", bytes, [=](long) { copy(there, here, unknown_bytes); }));
    };
    add("copy-words", copy_by_words);
    add("copy-memcpy", by_memcpy);
    add("copy-sse", copy_by_sse<false>);
    add("copy-sse-stream", copy_by_sse<true>);
    add("copy-movsb", copy_by_string);
    measure(rows);
  }
}

}  // namespace terrane::bench::sides
