#pragma once

#include <cstddef>
#include <cstdint>

namespace video {

// The size of a grey picture, one byte a pixel, rows without padding.
struct Shape {
  std::uint32_t width = 0, height = 0;

  std::size_t bytes() const { return std::size_t{width} * height; }
  bool operator==(const Shape&) const = default;
};

// Rows of a picture.
struct Rows {
  std::uint32_t first = 0, count = 0;
};

// The `index`-th of `parts` strips of about the same height; together they are all rows.
inline Rows strip(std::uint32_t height, std::uint32_t parts, std::uint32_t index) {
  const std::uint32_t first = static_cast<std::uint32_t>(std::uint64_t{height} * index / parts);
  const auto end = static_cast<std::uint32_t>(std::uint64_t{height} * (index + 1) / parts);
  return {first, end - first};
}

// The strip with the rows above and below it (its halo) that a 3x3 kernel also reads.
inline Rows with_halo(std::uint32_t height, Rows rows) {
  const std::uint32_t first = rows.first == 0 ? 0 : rows.first - 1;
  const std::uint32_t end = rows.first + rows.count;
  return {first, (end < height ? end + 1 : height) - first};
}

}  // namespace video
