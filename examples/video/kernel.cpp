#include "kernel.h"

#include <algorithm>
#include <string>

namespace video {

void convolve_pixels(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                     std::uint8_t* out, std::size_t width, std::size_t from, std::size_t to) {
  for (std::size_t x = from; x < to; ++x) {
    const std::size_t left = x == 0 ? 0 : x - 1;
    const std::size_t right = x + 1 == width ? x : x + 1;
    const int around = above[left] + above[x] + above[right] + row[left] + row[right] +
                       below[left] + below[x] + below[right];
    out[x] = static_cast<std::uint8_t>(std::clamp(8 * row[x] - around, 0, 255));
  }
}

namespace {

void scalar_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                std::uint8_t* out, std::size_t width) {
  convolve_pixels(above, row, below, out, width, 0, width);
}

}  // namespace

std::vector<Kernel> kernels() {
  std::vector<Kernel> found = vector_kernels();
  found.push_back({"scalar", scalar_row});
  return found;
}

Outcome<Kernel> choose_kernel(std::string_view name) {
  const std::vector<Kernel> found = kernels();
  if (name == "best") return found.front();
  std::string names;
  for (const Kernel& kernel : found) {
    if (name == kernel.name) return kernel;
    names += std::string(names.empty() ? "" : ", ") + kernel.name;
  }
  return Failure{"this processor has no kernel '" + std::string(name) + "'; it has best, " + names};
}

void convolve(const Kernel& kernel, Shape shape, Rows rows, const std::uint8_t* in,
              std::uint32_t in_first, std::uint8_t* out) {
  const std::size_t width = shape.width;
  for (std::uint32_t y = rows.first; y < rows.first + rows.count; ++y) {
    const std::uint32_t up = y == 0 ? 0 : y - 1;
    const std::uint32_t down = y + 1 == shape.height ? y : y + 1;
    kernel.run(in + width * (up - in_first), in + width * (y - in_first),
               in + width * (down - in_first), out + width * (y - rows.first), width);
  }
}

void convolve(const Kernel& kernel, Shape shape, const std::uint8_t* in, std::uint8_t* out) {
  convolve(kernel, shape, {0, shape.height}, in, 0, out);
}

}  // namespace video
