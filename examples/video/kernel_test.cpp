#include "kernel.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace video {
namespace {

std::vector<std::uint8_t> noise(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(shape.bytes());
  for (std::uint8_t& byte : bytes) {
    const unsigned value = random();  // a third black, a third white: results beyond both ends
    byte = static_cast<std::uint8_t>(value % 3 == 0 ? 0 : value % 3 == 1 ? 255 : value >> 8);
  }
  return bytes;
}

std::vector<std::uint8_t> scalar(Shape shape, const std::vector<std::uint8_t>& in) {
  std::vector<std::uint8_t> out(shape.bytes());
  convolve(choose_kernel("scalar").value(), shape, in.data(), out.data());
  return out;
}

TEST(VideoKernelTest, ScalarKernelGivesTheWrittenSums) {
  const Shape shape{3, 3};
  const std::vector<std::uint8_t> in = {1, 2, 3, 4, 50, 6, 7, 8, 9};
  const std::vector<std::uint8_t> out = scalar(shape, in);
  EXPECT_EQ(out[4], 255);  // 400 - 40
  EXPECT_EQ(out[0], 0);    // 9 - (4 * 1 + 2 * 2 + 2 * 4 + 50) is negative
  const std::vector<std::uint8_t> flat(9, 77);
  EXPECT_EQ(scalar(shape, flat), std::vector<std::uint8_t>(9, 0));
}

TEST(VideoKernelTest, AllKernelsAreEqualToTheBitInAllWidths) {
  for (std::uint32_t width = 1; width <= 140; ++width) {
    const Shape shape{width, 4};
    const std::vector<std::uint8_t> in = noise(shape, width);
    const std::vector<std::uint8_t> right = scalar(shape, in);
    for (const Kernel& kernel : kernels()) {
      std::vector<std::uint8_t> out(shape.bytes(), 99);
      convolve(kernel, shape, in.data(), out.data());
      EXPECT_EQ(out, right) << kernel.name << ", " << width << " pixels wide";
    }
  }
}

TEST(VideoKernelTest, StripsWithHalosAreEqualToTheWholePicture) {
  const Shape shape{67, 23};
  const std::vector<std::uint8_t> in = noise(shape, 5);
  const std::vector<std::uint8_t> right = scalar(shape, in);
  for (std::uint32_t parts : {1u, 2u, 3u, 7u, 23u}) {
    std::vector<std::uint8_t> out;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const Rows rows = strip(shape.height, parts, part), halo = with_halo(shape.height, rows);
      const std::vector<std::uint8_t> input(in.begin() + halo.first * shape.width,
                                            in.begin() + (halo.first + halo.count) * shape.width);
      std::vector<std::uint8_t> done(std::size_t{rows.count} * shape.width);
      convolve(kernels().front(), shape, rows, input.data(), halo.first, done.data());
      out.insert(out.end(), done.begin(), done.end());
    }
    EXPECT_EQ(out, right) << parts << " strips";
  }
}

TEST(VideoKernelTest, AnUnknownKernelIsRefusedWithTheNamesOfThoseThereAre) {
  const Outcome<Kernel> kernel = choose_kernel("cuda");
  ASSERT_FALSE(kernel.ok());
  EXPECT_NE(kernel.sentence().find("'cuda'"), std::string::npos);
  EXPECT_NE(kernel.sentence().find("scalar"), std::string::npos);
}

}  // namespace
}  // namespace video
