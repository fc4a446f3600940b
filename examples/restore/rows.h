#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image.h"

namespace restore {

struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;  // one past the last
};

// Adjacent damaged samples [begin, end) of a row. `left` and `right` lead to a sample's neighbours:
// one pixel away, and inwards twice at the picture's edge (mirrored, so that nothing flows over
// it).
struct Span {
  std::uint32_t begin, end;
  std::int32_t left, right;
};

// A picture to restore, its bytes in shared or private memory of the caller.
struct Damaged {
  std::uint32_t width, height, channels;
  const std::uint8_t* samples;  // interleaved; the samples under the damage do not matter
  const std::uint8_t* mask;

  std::size_t row_samples() const { return std::size_t{width} * channels; }
  std::size_t total_samples() const { return row_samples() * height; }
};

class Healing;

// The damaged samples of some rows of a picture, and the sweeps over them.
//
// A list of spans, not a sweep over masked rows: a fifth of the pixels is damaged, and a masked
// sweep would load and store the other four fifths at every iteration too. Pixels are interleaved,
// so that a span of n pixels is one loop over 3n adjacent doubles that the compiler vectorises, and
// a neighbour's row is one contiguous run of pages.
//
// Arrays of doubles are the whole picture's, row_samples() a row; only the own rows are written.
class DamagedRows {
 public:
  DamagedRows(const Damaged& picture, RowRange rows);

  // Known samples into both arrays; damaged ones by a straight line between the known pixels at
  // either side.
  void initialise(double* a, double* b) const;
  // One Jacobi sweep of Laplace's equation: each damaged sample becomes the mean of its four
  // neighbours.
  void relax(const double* from, double* to) const;
  // The greatest absolute difference of a damaged sample between the arrays.
  double largest_change(const double* a, const double* b) const;
  // The own rows of a solution with its grain, rounded to bytes.
  void quantise(const double* solution, const Healing& healing, std::uint8_t* samples) const;

 private:
  void add_span(std::uint32_t first_pixel, std::uint32_t end_pixel);
  void find_spans_of_row(const std::uint8_t* mask);

  Damaged picture_;
  RowRange rows_;
  std::vector<Span> spans_;
  std::vector<std::size_t>
      row_spans_;  // spans_[row_spans_[i] .. row_spans_[i + 1]) are those of row first + i
};

// Cuts the rows in `parts` contiguous ranges with about equally many damaged pixels; a range may be
// empty.
std::vector<RowRange> split_rows(const std::uint8_t* mask, std::uint32_t width,
                                 std::uint32_t height, std::uint32_t parts);

}  // namespace restore
