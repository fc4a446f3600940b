#include "heal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace restore {
namespace {

constexpr std::uint32_t kSize = 160;

// A grey picture of fine stripes with a round blot in its middle, filled smoothly.
class HealTest : public testing::Test {
 protected:
  HealTest() : samples_(kSize * kSize, 0), mask_(kSize * kSize, 0), solution_(kSize * kSize) {
    for (std::uint32_t y = 0; y < kSize; ++y)
      for (std::uint32_t x = 0; x < kSize; ++x) {
        const double away = std::hypot(x - 80.0, y - 80.0);
        mask_[y * kSize + x] = away < 20 ? 1 : 0;
        solution_[y * kSize + x] = away < 20 ? 100 : (x % 4 < 2 ? 80 : 120);
      }
  }

  Damaged picture() const { return {kSize, kSize, 1, samples_.data(), mask_.data()}; }

  std::vector<std::uint8_t> samples_;
  std::vector<std::uint8_t> mask_;
  std::vector<double> solution_;
};

TEST_F(HealTest, TheMiddleOfABlotGetsTheGrainOfItsSurroundings) {
  const Healing healing(picture(), solution_.data());
  double square = 0;
  for (std::uint32_t x = 75; x < 85; ++x) square += std::pow(healing.grain(x, 80, 0), 2);
  EXPECT_GT(std::sqrt(square / 10), 10);
  EXPECT_LT(std::sqrt(square / 10), 30);
}

TEST_F(HealTest, KnownPixelsAndTheEdgeOfABlotStay) {
  const Healing healing(picture(), solution_.data());
  for (std::uint32_t x = 0; x < kSize; ++x) {
    const bool middle = x > 80 - 16 && x < 80 + 16;
    if (!middle) {
      EXPECT_EQ(healing.grain(x, 80, 0), 0) << x;
    }
  }
}

TEST_F(HealTest, ThinDamageStays) {
  std::fill(mask_.begin(), mask_.end(), std::uint8_t{0});
  for (std::uint32_t x = 0; x < kSize; ++x)
    for (std::uint32_t y = 78; y < 83; ++y) mask_[y * kSize + x] = 1;
  const Healing healing(picture(), solution_.data());
  for (std::uint32_t x = 0; x < kSize; ++x) EXPECT_EQ(healing.grain(x, 80, 0), 0) << x;
}

// Nothing is known around it: there is no place to take the grain from.
TEST_F(HealTest, APictureThatIsOneBlotIsLeftAlone) {
  std::fill(mask_.begin(), mask_.end(), std::uint8_t{1});
  mask_[0] = 0;
  std::fill(solution_.begin(), solution_.end(), 50.0);
  const Healing healing(picture(), solution_.data());
  EXPECT_EQ(healing.grain(80, 80, 0), 0);
}

}  // namespace
}  // namespace restore
