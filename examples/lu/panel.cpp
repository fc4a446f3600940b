#include "panel.h"

#include <algorithm>
#include <cmath>

namespace lu {
namespace {

double* row_of(const Panel& panel, std::uint32_t row) {
  return panel.rows + std::size_t{row} * kBlock;
}

void swap_rows(const Panel& panel, std::uint32_t a, std::uint32_t b) {
  if (a != b) std::swap_ranges(row_of(panel, a), row_of(panel, a) + kBlock, row_of(panel, b));
}

// The row from `first` on whose value in the column is the greatest.
std::uint32_t find_pivot(const Shape& shape, const Panel& panel, std::uint32_t column,
                         std::uint32_t first) {
  std::uint32_t best = first;
  for (std::uint32_t row = first + 1; row < shape.padded(); ++row) {
    if (std::fabs(row_of(panel, row)[column]) > std::fabs(row_of(panel, best)[column])) best = row;
  }
  return best;
}

// target -= factor * row, for the columns from `first` on.
void subtract(double* target, double factor, const double* row, std::uint32_t first) {
  for (std::uint32_t c = first; c < kBlock; ++c) target[c] -= factor * row[c];
}

// Two rows at once: each row of U that is loaded serves both.
void subtract_product(double* a, double* b, const double* l_a, const double* l_b, const double* u) {
  double sum_a[kBlock];
  double sum_b[kBlock];
  std::copy(a, a + kBlock, sum_a);
  std::copy(b, b + kBlock, sum_b);
  for (std::uint32_t k = 0; k < kBlock; ++k) {
    const double* const row = u + std::size_t{k} * kBlock;
    for (std::uint32_t c = 0; c < kBlock; ++c) sum_a[c] -= l_a[k] * row[c];
    for (std::uint32_t c = 0; c < kBlock; ++c) sum_b[c] -= l_b[k] * row[c];
  }
  std::copy(sum_a, sum_a + kBlock, a);
  std::copy(sum_b, sum_b + kBlock, b);
}

}  // namespace

Panel Shape::panel_at(void* memory) const {
  auto* const rows = static_cast<double*>(memory);
  return {rows, reinterpret_cast<PanelHead*>(rows + panel_values())};
}

void fill_panels(const Matrix& matrix, const Panel* panels) {
  for (const Entry& entry : matrix.entries) {
    row_of(panels[entry.column / kBlock], entry.row)[entry.column % kBlock] = entry.value;
  }
  const Shape shape{matrix.size};
  for (std::uint32_t i = matrix.size; i < shape.padded(); ++i) {
    row_of(panels[i / kBlock], i)[i % kBlock] = 1;
  }
}

void factor_panel(const Shape& shape, std::uint32_t k, const Panel& panel) {
  const std::uint32_t top = k * kBlock;
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    const std::uint32_t pivot = find_pivot(shape, panel, i, top + i);
    const double value = row_of(panel, pivot)[i];
    if (value == 0 || !std::isfinite(value)) {
      panel.head->singular = std::uint64_t{1} + top + i;
      return;
    }
    panel.head->pivots[i] = pivot;
    swap_rows(panel, top + i, pivot);
    const double* const pivot_row = row_of(panel, top + i);
    for (std::uint32_t row = top + i + 1; row < shape.padded(); ++row) {
      double* const here = row_of(panel, row);
      if (here[i] == 0) continue;
      here[i] /= value;
      subtract(here, here[i], pivot_row, i + 1);
    }
  }
}

void update_panel(const Shape& shape, std::uint32_t k, const Panel& factored, const Panel& panel) {
  const std::uint32_t top = k * kBlock;
  for (std::uint32_t i = 0; i < kBlock; ++i) swap_rows(panel, top + i, factored.head->pivots[i]);
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    for (std::uint32_t row = i + 1; row < kBlock; ++row) {
      subtract(row_of(panel, top + row), row_of(factored, top + row)[i], row_of(panel, top + i), 0);
    }
  }
  const double* const u = row_of(panel, top);
  for (std::uint32_t row = top + kBlock; row < shape.padded(); row += 2) {
    subtract_product(row_of(panel, row), row_of(panel, row + 1), row_of(factored, row),
                     row_of(factored, row + 1), u);
  }
}

}  // namespace lu
