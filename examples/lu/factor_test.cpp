#include "factor.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>

#include "generate.h"
#include "solve.h"

namespace lu {
namespace {

Matrix matrix_of(std::uint32_t size, double (*value)(std::uint32_t, std::uint32_t)) {
  Matrix matrix{size, {}};
  for (std::uint32_t row = 0; row < size; ++row) {
    for (std::uint32_t column = 0; column < size; ++column) {
      matrix.entries.push_back({row, column, value(row, column)});
    }
  }
  return matrix;
}

void expect_solved(const Matrix& a) {
  const SerialFactors factors(a);
  ASSERT_EQ(factors.singular(), 0u);
  const Solution solution = solve(a, factors.panels(), Vector(a.size, 1.0));
  EXPECT_TRUE(solution.good()) << solution.error << " above " << solution.bound;
}

TEST(FactorTest, SizesAroundABlockAreSolved) {
  for (std::uint32_t size : {1u, 2u, 31u, 32u, 33u, 64u, 65u, 100u}) {
    expect_solved(generate(size, 1, size));
  }
}

TEST(FactorTest, SparseMatricesWithoutADiagonalAreSolved) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) expect_solved(generate(80, 0.05, seed));
}

TEST(FactorTest, AKnownSystemHasTheKnownSolution) {
  // Row 0 cannot be the first pivot.
  Matrix a{3, {{0, 1, 2}, {0, 2, 1}, {1, 0, 1}, {1, 1, -1}, {2, 0, 3}, {2, 2, 2}}};
  const SerialFactors factors(a);
  const Solution solution = solve(a, factors.panels(), {7, -1, 9});
  ASSERT_EQ(solution.x.size(), 3u);
  EXPECT_NEAR(solution.x[0], 1, 1e-14);
  EXPECT_NEAR(solution.x[1], 2, 1e-14);
  EXPECT_NEAR(solution.x[2], 3, 1e-14);
}

TEST(FactorTest, IllConditionedMatricesHaveSmallResiduals) {
  expect_solved(matrix_of(12, [](std::uint32_t i, std::uint32_t j) { return 1.0 / (i + j + 1); }));
}

TEST(FactorTest, ValuesOfVeryDifferentSizesAreSolved) {
  expect_solved(matrix_of(40, [](std::uint32_t i, std::uint32_t j) {
    return std::ldexp(std::sin(1.0 + i * 41 + j), static_cast<int>(i % 7) * 20);
  }));
}

TEST(FactorTest, GrowthOfElementsIsRefinedAway) {
  // Wilkinson's matrix: with partial pivoting the last column grows to 2^(size - 1).
  const Matrix a = matrix_of(44, [](std::uint32_t i, std::uint32_t j) {
    return i == j || j == 43 ? 1.0 : i > j ? -1.0 : 0.0;
  });
  const SerialFactors factors(a);
  Vector b(44);
  for (std::uint32_t i = 0; i < 44; ++i) b[i] = std::cos(i);
  EXPECT_TRUE(solve(a, factors.panels(), b).good());
}

TEST(FactorTest, TheFirstColumnWithoutAPivotIsNamed) {
  Matrix a = generate(70, 1, 3);
  std::erase_if(a.entries, [](const Entry& entry) { return entry.column == 40; });
  EXPECT_EQ(SerialFactors(a).singular(), 41u);
  EXPECT_EQ(SerialFactors(Matrix{5, {}}).singular(), 1u);
  EXPECT_EQ(SerialFactors(Matrix{2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 4}}}).singular(), 2u);
}

TEST(FactorTest, InfinityIsNoPivot) {
  EXPECT_EQ(SerialFactors(Matrix{1, {{0, 0, INFINITY}}}).singular(), 1u);
}

TEST(FactorTest, AZeroRightHandSideHasTheZeroSolution) {
  const Matrix a = generate(40, 1, 1);
  const SerialFactors factors(a);
  const Solution solution = solve(a, factors.panels(), Vector(40, 0.0));
  EXPECT_TRUE(solution.good());
  EXPECT_EQ(solution.x, Vector(40, 0.0));
}

TEST(FactorTest, AnyNumberOfWorkersFindsTheSameBits) {
  const Matrix a = generate(150, 0.4, 9);
  const Shape shape{a.size};
  const SerialFactors alone(a);
  for (std::uint32_t workers : {2u, 3u, 7u}) {
    SerialFactors memory(a);  // lends its panels
    for (const Panel& panel : memory.panels()) {
      std::fill_n(panel.rows, shape.panel_bytes() / sizeof(double), 0.0);
    }
    fill_panels(a, memory.panels().data());
    std::barrier<> barrier(workers);
    std::vector<std::jthread> threads;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        factor(shape, memory.panels(), Share{worker, workers}, [&] { barrier.arrive_and_wait(); });
      });
    }
    threads.clear();
    EXPECT_EQ(count_different(shape, memory.panels(), alone.panels()), 0u) << workers;
  }
}

TEST(GenerateTest, TheSeedDecidesOnEveryMachine) {
  const Matrix matrix = generate(50, 0.1, 7);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Entry& entry : matrix.entries) {
    for (std::uint64_t part : {std::uint64_t{entry.row}, std::uint64_t{entry.column},
                               static_cast<std::uint64_t>(std::llround(entry.value * 1e12))}) {
      hash = (hash ^ part) * 0x100000001b3u;
    }
  }
  EXPECT_EQ(hash, 12414772122954563743u);
}

}  // namespace
}  // namespace lu
