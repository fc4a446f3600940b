#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace lu {
namespace {

// A NaN stays one: std::max would lose it.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

void Matrix::sort_and_merge() {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  std::size_t kept = 0;
  for (const Entry& entry : entries) {
    if (kept > 0 && entries[kept - 1].row == entry.row &&
        entries[kept - 1].column == entry.column) {
      entries[kept - 1].value += entry.value;
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
}

double norm(const Vector& v) {
  double most = 0;
  for (const double value : v) most = larger(std::fabs(value), most);
  return most;
}

double norm(const Matrix& a) {
  Vector sums(a.size, 0.0);
  for (const Entry& entry : a.entries) sums[entry.row] += std::fabs(entry.value);
  return norm(sums);
}

Vector residual(const Matrix& a, const Vector& x, const Vector& b) {
  Vector rest = b;
  for (const Entry& entry : a.entries) rest[entry.row] -= entry.value * x[entry.column];
  return rest;
}

}  // namespace lu
