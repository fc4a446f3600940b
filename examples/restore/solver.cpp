#include "solver.h"

#include <chrono>

#include "heal.h"

namespace restore {
namespace {

// A team of one has nobody to wait for.
struct Alone {
  void wait() {}
  double largest(double mine) { return mine; }
};

}  // namespace

SerialResult solve_serial(const Damaged& picture, const SolverSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  SerialResult result;
  std::vector<double> a(picture.total_samples());
  std::vector<double> b(picture.total_samples());
  result.samples.resize(picture.total_samples());

  const DamagedRows rows(picture, {0, picture.height});
  rows.initialise(a.data(), b.data());
  Alone alone;
  result.convergence = iterate(rows, settings, a.data(), b.data(), alone, {});
  result.solution = std::move(result.convergence.iterations % 2 == 1 ? b : a);
  rows.quantise(result.solution.data(), Healing(picture, result.solution.data()),
                result.samples.data());

  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  result.seconds = taken.count();
  return result;
}

}  // namespace restore
