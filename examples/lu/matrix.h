#pragma once

#include <cstdint>
#include <vector>

namespace lu {

// Refused above: the factors of a matrix of this size fill 3 GiB.
inline constexpr std::uint32_t kMaxSize = 20000;

struct Entry {
  std::uint32_t row = 0;  // from 0
  std::uint32_t column = 0;
  double value = 0;
};

// A square matrix by its entries, each place at most once, row by row; what is not among them is 0.
struct Matrix {
  std::uint32_t size = 0;
  std::vector<Entry> entries;

  // Puts entries that came in any order into this form; several of one place are added up.
  void sort_and_merge();
};

using Vector = std::vector<double>;

// Greatest absolute value; 0 of an empty vector, NaN where one is.
double norm(const Vector& v);
// Greatest sum of absolute values in a row: the norm that belongs to it.
double norm(const Matrix& a);
// b - A x.
Vector residual(const Matrix& a, const Vector& x, const Vector& b);

}  // namespace lu
