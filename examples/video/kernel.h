#pragma once

#include <string_view>
#include <vector>

#include "frame.h"
#include "outcome.h"

// Edge detection by a 3x3 convolution: eight times the pixel less its eight neighbours, clamped to
// 0..255. A pixel outside the picture has the value of the nearest pixel inside. All kernels give
// the same bytes.
namespace video {

// Writes `width` (at least 1) pixels of `out` from three rows of the input.
using RowKernel = void (*)(const std::uint8_t* above, const std::uint8_t* row,
                           const std::uint8_t* below, std::uint8_t* out, std::size_t width);

struct Kernel {
  const char* name;
  RowKernel run;
};

// Writes out[from..to) of a row; both ends may be those of the row.
void convolve_pixels(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                     std::uint8_t* out, std::size_t width, std::size_t from, std::size_t to);

// The kernels with vector instructions that this processor has, the fastest first. One definition
// for each architecture: kernel_x86.cpp, kernel_arm64.cpp, kernel_other.cpp.
std::vector<Kernel> vector_kernels();

// All kernels that run here, the fastest first; the scalar kernel is the last one.
std::vector<Kernel> kernels();

// The kernel of this name; "best" is the fastest one.
Outcome<Kernel> choose_kernel(std::string_view name);

// Computes `rows` of a picture of `height` rows. `in` is the input's row `in_first` (the halo is
// there), `out` the output's row rows.first.
void convolve(const Kernel& kernel, Shape shape, Rows rows, const std::uint8_t* in,
              std::uint32_t in_first, std::uint8_t* out);

// Computes the whole picture.
void convolve(const Kernel& kernel, Shape shape, const std::uint8_t* in, std::uint8_t* out);

}  // namespace video
