#include "solve.h"

#include <bit>
#include <cmath>
#include <limits>
#include <new>

#include "factor.h"

namespace lu {
namespace {

constexpr std::uint32_t kMostRefinements = 5;
// What LINPACK's own check allows: 16 times the size times the rounding of one operation.
constexpr double kBoundFactor = 16;

// v[rows below] -= column of the panel * v[row], in the order of memory.
void eliminate(const Shape& shape, std::uint32_t k, const Panel& panel, Vector& v) {
  const std::uint32_t top = k * kBlock;
  for (std::uint32_t i = 0; i < kBlock; ++i) std::swap(v[top + i], v[panel.head->pivots[i]]);
  for (std::uint32_t row = top + 1; row < shape.padded(); ++row) {
    const double* const factors = panel.rows + std::size_t{row} * kBlock;
    const std::uint32_t count = row - top < kBlock ? row - top : kBlock;
    for (std::uint32_t i = 0; i < count; ++i) v[row] -= factors[i] * v[top + i];
  }
}

void substitute_back(std::uint32_t k, const Panel& panel, Vector& v) {
  const std::uint32_t top = k * kBlock;
  for (std::uint32_t i = kBlock; i-- > 0;) {
    v[top + i] /= panel.rows[std::size_t{top + i} * kBlock + i];
    for (std::uint32_t row = 0; row < top + i; ++row) {
      v[row] -= panel.rows[std::size_t{row} * kBlock + i] * v[top + i];
    }
  }
}

double relative_error(const Vector& rest, double norm_a, const Vector& x) {
  const double error = norm(rest);
  return error == 0 ? 0 : error / (norm_a * norm(x));
}

}  // namespace

Vector substitute(const Shape& shape, const std::vector<Panel>& panels, const Vector& b) {
  Vector v = b;
  v.resize(shape.padded(), 0.0);
  for (std::uint32_t k = 0; k < shape.panels(); ++k) eliminate(shape, k, panels[k], v);
  for (std::uint32_t k = shape.panels(); k-- > 0;) substitute_back(k, panels[k], v);
  v.resize(shape.size);
  return v;
}

Solution solve(const Matrix& a, const std::vector<Panel>& factors, const Vector& b) {
  const Shape shape{a.size};
  Solution solution;
  solution.bound = kBoundFactor * a.size * std::numeric_limits<double>::epsilon();
  solution.x = substitute(shape, factors, b);
  const double norm_a = norm(a);
  Vector rest = residual(a, solution.x, b);
  solution.error = relative_error(rest, norm_a, solution.x);
  while (!solution.good() && solution.refined < kMostRefinements) {
    const Vector correction = substitute(shape, factors, rest);
    for (std::uint32_t i = 0; i < a.size; ++i) solution.x[i] += correction[i];
    rest = residual(a, solution.x, b);
    solution.error = relative_error(rest, norm_a, solution.x);
    ++solution.refined;
  }
  return solution;
}

SerialFactors::SerialFactors(const Matrix& a) {
  const Shape shape{a.size};
  for (std::uint32_t k = 0; k < shape.panels(); ++k) {
    memory_.emplace_back(std::calloc(1, shape.panel_bytes()));
    if (!memory_.back()) throw std::bad_alloc();
    panels_.push_back(shape.panel_at(memory_.back().get()));
  }
  fill_panels(a, panels_.data());
  singular_ = factor(shape, panels_, Share{}, [] {});
}

std::size_t count_different(const Shape& shape, const std::vector<Panel>& a,
                            const std::vector<Panel>& b) {
  std::size_t different = 0;
  for (std::uint32_t k = 0; k < shape.panels(); ++k) {
    for (std::size_t i = 0; i < shape.panel_values(); ++i) {
      const auto bits_a = std::bit_cast<std::uint64_t>(a[k].rows[i]);
      const auto bits_b = std::bit_cast<std::uint64_t>(b[k].rows[i]);
      different += bits_a != bits_b ? 1 : 0;
    }
  }
  return different;
}

}  // namespace lu
