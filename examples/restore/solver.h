#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rows.h"

namespace restore {

struct SolverSettings {
  // Converged when no sample changed by more in an iteration; 255 is white.
  double tolerance = 1e-4;
  std::uint32_t check_every = 50;
  std::uint32_t max_iterations = 20000;
};

struct Convergence {
  std::uint32_t iterations = 0;
  double change = 0;  // the largest in the last iteration
  bool converged = false;
};

// Called after every convergence test.
using Watcher = std::function<void(const Convergence&)>;

// Jacobi iterations over the caller's rows until all workers' rows have converged. The solution is
// in `b` after an odd number of iterations, in `a` after an even one. A Team makes this loop serial
// or shared:
//   void wait();                  returns when every worker has come here
//   double largest(double mine);  the same, and the greatest of what the workers brought
template <typename Team>
Convergence iterate(const DamagedRows& rows, const SolverSettings& settings, double* a, double* b,
                    Team& team, const Watcher& watch) {
  Convergence state;
  while (!state.converged && state.iterations < settings.max_iterations) {
    const std::uint32_t n = ++state.iterations;
    rows.relax(a, b);
    if (n % settings.check_every == 0 || n == settings.max_iterations) {
      state.change = team.largest(rows.largest_change(a, b));
      state.converged = state.change <= settings.tolerance;
      if (watch) watch(state);
    } else {
      team.wait();
    }
    std::swap(a, b);
  }
  return state;
}

struct SerialResult {
  Convergence convergence;
  std::vector<double> solution;
  std::vector<std::uint8_t> samples;
  double seconds = 0;  // from the damaged bytes to the restored ones
};

// The whole picture by one thread, in private memory.
SerialResult solve_serial(const Damaged& picture, const SolverSettings& settings);

}  // namespace restore
