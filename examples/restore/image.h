#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace restore {

// Refused above: the two arrays of doubles of a colour picture of this size fill 1.5 GiB.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 25;

// An 8-bit picture, grey (1 channel) or colour (3), its samples row by row and interleaved
// (RGBRGB...).
struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0;
  std::vector<std::uint8_t> samples;

  Image() = default;
  Image(std::uint32_t w, std::uint32_t h, std::uint32_t c)
      : width(w), height(h), channels(c), samples(std::size_t{w} * h * c) {}

  std::size_t row_samples() const { return std::size_t{width} * channels; }
};

// One byte a pixel: 0 where the picture is intact, a Damage elsewhere.
using Mask = std::vector<std::uint8_t>;

}  // namespace restore
