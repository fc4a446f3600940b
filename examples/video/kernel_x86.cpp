#include <immintrin.h>

#include "kernel.h"

namespace video {
namespace {

#define VIDEO_TARGET(features) __attribute__((target(features)))
#define VIDEO_AVX2 VIDEO_TARGET("avx2")
#define VIDEO_AVX512 VIDEO_TARGET("avx512f,avx512bw")

VIDEO_AVX2 inline __m256i load_16(const std::uint8_t* at) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

VIDEO_AVX2 inline __m256i three_16(const std::uint8_t* at) {
  return _mm256_add_epi16(_mm256_add_epi16(load_16(at - 1), load_16(at)), load_16(at + 1));
}

// 16 pixels widened to 16 bits: nine times the pixel less the sum of all nine, in -2040..2040.
VIDEO_AVX2 inline __m256i edge_16(const std::uint8_t* above, const std::uint8_t* row,
                                  const std::uint8_t* below) {
  const __m256i sum =
      _mm256_add_epi16(_mm256_add_epi16(three_16(above), three_16(row)), three_16(below));
  const __m256i pixel = load_16(row);
  return _mm256_sub_epi16(_mm256_add_epi16(_mm256_slli_epi16(pixel, 3), pixel), sum);
}

VIDEO_AVX2 void avx2_row(const std::uint8_t* above, const std::uint8_t* row,
                         const std::uint8_t* below, std::uint8_t* out, std::size_t width) {
  constexpr std::size_t kStep = 32;
  if (width < kStep + 2) return convolve_pixels(above, row, below, out, width, 0, width);
  convolve_pixels(above, row, below, out, width, 0, 1);
  convolve_pixels(above, row, below, out, width, width - 1, width);
  const std::size_t last = width - 1 - kStep;  // the last step overlaps the one before it
  for (std::size_t x = 1;; x = x + kStep < last ? x + kStep : last) {
    const __m256i low = edge_16(above + x, row + x, below + x);
    const __m256i high = edge_16(above + x + 16, row + x + 16, below + x + 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), packed);
    if (x == last) return;
  }
}

VIDEO_AVX512 inline __m512i load_32(const std::uint8_t* at) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

VIDEO_AVX512 inline __m512i three_32(const std::uint8_t* at) {
  return _mm512_add_epi16(_mm512_add_epi16(load_32(at - 1), load_32(at)), load_32(at + 1));
}

VIDEO_AVX512 inline __m512i edge_32(const std::uint8_t* above, const std::uint8_t* row,
                                    const std::uint8_t* below) {
  const __m512i sum =
      _mm512_add_epi16(_mm512_add_epi16(three_32(above), three_32(row)), three_32(below));
  const __m512i pixel = load_32(row);
  return _mm512_sub_epi16(_mm512_add_epi16(_mm512_slli_epi16(pixel, 3), pixel), sum);
}

VIDEO_AVX512 void avx512_row(const std::uint8_t* above, const std::uint8_t* row,
                             const std::uint8_t* below, std::uint8_t* out, std::size_t width) {
  constexpr std::size_t kStep = 32;
  if (width < kStep + 2) return convolve_pixels(above, row, below, out, width, 0, width);
  convolve_pixels(above, row, below, out, width, 0, 1);
  convolve_pixels(above, row, below, out, width, width - 1, width);
  const std::size_t last = width - 1 - kStep;
  for (std::size_t x = 1;; x = x + kStep < last ? x + kStep : last) {
    const __m512i edge =
        _mm512_max_epi16(edge_32(above + x, row + x, below + x), _mm512_setzero_si512());
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x),
                        _mm512_maskz_cvtusepi16_epi8(~__mmask32{0}, edge));
    if (x == last) return;
  }
}

}  // namespace

std::vector<Kernel> vector_kernels() {
  std::vector<Kernel> found;
  if (__builtin_cpu_supports("avx512bw") != 0) found.push_back({"avx512", avx512_row});
  if (__builtin_cpu_supports("avx2") != 0) found.push_back({"avx2", avx2_row});
  return found;
}

}  // namespace video
