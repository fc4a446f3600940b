#include <arm_neon.h>

#include "kernel.h"

namespace video {
namespace {

// 8 pixels: nine times the pixel less the sum of all nine, clamped to 0..255.
inline uint8x8_t edge_8(const std::uint8_t* above, const std::uint8_t* row,
                        const std::uint8_t* below) {
  const auto three = [](const std::uint8_t* at) {
    return vaddw_u8(vaddl_u8(vld1_u8(at - 1), vld1_u8(at)), vld1_u8(at + 1));
  };
  const uint16x8_t sum = vaddq_u16(vaddq_u16(three(above), three(row)), three(below));
  const uint16x8_t nine = vmull_u8(vld1_u8(row), vdup_n_u8(9));
  return vqmovun_s16(vreinterpretq_s16_u16(vsubq_u16(nine, sum)));
}

void neon_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
              std::uint8_t* out, std::size_t width) {
  constexpr std::size_t kStep = 8;
  if (width < kStep + 2) return convolve_pixels(above, row, below, out, width, 0, width);
  convolve_pixels(above, row, below, out, width, 0, 1);
  convolve_pixels(above, row, below, out, width, width - 1, width);
  const std::size_t last = width - 1 - kStep;  // the last step overlaps the one before it
  for (std::size_t x = 1;; x = x + kStep < last ? x + kStep : last) {
    vst1_u8(out + x, edge_8(above + x, row + x, below + x));
    if (x == last) return;
  }
}

}  // namespace

std::vector<Kernel> vector_kernels() { return {{"neon", neon_row}}; }

}  // namespace video
