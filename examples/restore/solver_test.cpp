#include "solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "damage.h"

namespace restore {
namespace {

// A picture whose samples rise evenly to the right and downwards: harmonic, so that restoring must
// find it again.
Image slope(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
  Image image(width, height, channels);
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        image.samples[(std::size_t{y} * width + x) * channels + c] =
            static_cast<std::uint8_t>(2 * x + 3 * y + 20 * c);
      }
    }
  }
  return image;
}

Mask block(const Image& image, std::uint32_t left, std::uint32_t top, std::uint32_t size) {
  Mask mask(std::size_t{image.width} * image.height);
  for (std::uint32_t y = top; y < top + size; ++y) {
    for (std::uint32_t x = left; x < left + size; ++x) mask[std::size_t{y} * image.width + x] = 1;
  }
  return mask;
}

Damaged view(const Image& image, const Mask& mask) {
  return {image.width, image.height, image.channels, image.samples.data(), mask.data()};
}

TEST(SolverTest, AHoleInASlopeIsFilledByTheSlope) {
  for (std::uint32_t channels : {1u, 3u}) {
    const Image image = slope(40, 30, channels);
    const Mask mask = block(image, 12, 9, 10);
    Image damaged = image;
    paint_damage(mask, damaged);
    const SerialResult result = solve_serial(view(damaged, mask), {1e-6, 10, 20000});
    EXPECT_TRUE(result.convergence.converged);
    EXPECT_EQ(result.samples, image.samples);
  }
}

TEST(SolverTest, TheValueUnderTheDamageDoesNotMatter) {
  const Image image = slope(40, 30, 3);
  const Mask mask = block(image, 0, 0, 12);
  Image painted = image;
  paint_damage(mask, painted);
  EXPECT_EQ(solve_serial(view(image, mask), {}).solution,
            solve_serial(view(painted, mask), {}).solution);
}

TEST(SolverTest, DamageAtEdgesAndCornersStaysWithinTheKnownValues) {
  const Image image = slope(24, 24, 3);
  for (std::uint32_t left : {0u, 8u, 16u}) {
    for (std::uint32_t top : {0u, 8u, 16u}) {
      const Mask mask = block(image, left, top, 8);
      const SerialResult result = solve_serial(view(image, mask), {1e-5, 10, 20000});
      EXPECT_TRUE(result.convergence.converged);
      for (double value : result.solution) {
        ASSERT_GE(value, 0);
        ASSERT_LE(value, 2 * 23 + 3 * 23 + 40);
      }
    }
  }
}

TEST(SolverTest, WholeRowsMayBeDamaged) {
  const Image image = slope(16, 16, 1);
  Mask mask(16 * 16);
  std::fill(mask.begin() + 5 * 16, mask.begin() + 8 * 16, std::uint8_t{1});
  const SerialResult result = solve_serial(view(image, mask), {1e-6, 10, 20000});
  EXPECT_TRUE(result.convergence.converged);
  EXPECT_NEAR(result.solution[6 * 16 + 8], 2 * 8 + 3 * 6, 1.0);
}

TEST(SolverTest, TheLimitOfIterationsIsKept) {
  const Image image = slope(60, 60, 1);
  const Mask mask = block(image, 5, 5, 50);
  const SerialResult result = solve_serial(view(image, mask), {0, 10, 37});
  EXPECT_EQ(result.convergence.iterations, 37u);
  EXPECT_FALSE(result.convergence.converged);
}

// The parts of a split picture, relaxed one after the other, are what the shared solver's workers
// do at once.
TEST(SolverTest, PartsOfAPictureGiveTheSameBitsAsTheWhole) {
  const Image image = slope(97, 61, 3);
  const Mask mask = make_damage(97, 61, 3);
  const Damaged picture = view(image, mask);
  const SerialResult whole = solve_serial(picture, {0, 10, 21});
  for (std::uint32_t parts : {2u, 5u, 100u}) {
    std::vector<double> a(picture.total_samples());
    std::vector<double> b(picture.total_samples());
    std::vector<DamagedRows> workers;
    for (RowRange range : split_rows(mask.data(), 97, 61, parts))
      workers.emplace_back(picture, range);
    for (const DamagedRows& rows : workers) rows.initialise(a.data(), b.data());
    for (int i = 0; i < 21; ++i) {
      for (const DamagedRows& rows : workers) rows.relax(a.data(), b.data());
      std::swap(a, b);
    }
    EXPECT_EQ(a, whole.solution) << parts;
  }
}

TEST(SplitRowsTest, EveryRowIsInOneRangeAndTheDamageIsShared) {
  const Mask mask = make_damage(640, 480, 2);
  const auto ranges = split_rows(mask.data(), 640, 480, 4);
  std::uint32_t next = 0;
  for (RowRange range : ranges) {
    EXPECT_EQ(range.first, next);
    next = range.end;
    const auto at = [&](std::uint32_t row) { return mask.begin() + std::size_t{row} * 640; };
    const auto intact = std::count(at(range.first), at(range.end), 0);
    const double damaged = (range.end - range.first) * 640.0 - static_cast<double>(intact);
    EXPECT_NEAR(damaged, static_cast<double>(count_damaged(mask)) / 4, 640);
  }
  EXPECT_EQ(next, 480u);
}

TEST(SplitRowsTest, MoreWorkersThanDamagedRowsLeaveSomeIdle) {
  Mask mask(10 * 4);
  mask[15] = 1;
  const auto ranges = split_rows(mask.data(), 10, 4, 8);
  EXPECT_EQ(ranges.size(), 8u);
  EXPECT_EQ(ranges.front().first, 0u);
  EXPECT_EQ(ranges.back().end, 4u);
}

}  // namespace
}  // namespace restore
