#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "panel.h"

namespace lu {

// x of L U x = P b, from factored panels.
Vector substitute(const Shape& shape, const std::vector<Panel>& panels, const Vector& b);

struct Solution {
  Vector x;
  double error = 0;           // ||b - A x|| / (||A|| ||x||), greatest-row norms
  double bound = 0;           // what the error of a good solution stays below
  std::uint32_t refined = 0;  // times that x was improved by its own residual

  bool good() const { return error <= bound; }
};

// Solves A x = b by the factors of A, and checks x against A itself. Where an unlucky growth of
// elements spoilt x, it is refined (x += A^-1 (b - A x)), a few times at most.
Solution solve(const Matrix& a, const std::vector<Panel>& factors, const Vector& b);

// The whole factorisation by one thread, in private memory. Owns the panels.
class SerialFactors {
 public:
  explicit SerialFactors(const Matrix& a);

  const std::vector<Panel>& panels() const { return panels_; }
  // 0, or 1 + the first column without a pivot.
  std::uint64_t singular() const { return singular_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::vector<std::unique_ptr<void, Free>> memory_;
  std::vector<Panel> panels_;
  std::uint64_t singular_ = 0;
};

// How many values of the factors differ in a bit.
std::size_t count_different(const Shape& shape, const std::vector<Panel>& a,
                            const std::vector<Panel>& b);

}  // namespace lu
