#include "runtime/home_check.h"

#include <gtest/gtest.h>

#include <array>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kUnit = 4096;

struct alignas(64) Page {
  std::array<std::byte, kUnit> bytes{};
  std::byte& operator[](std::size_t i) { return bytes[i]; }
};

class HomeCheckTest : public testing::Test {
 protected:
  bool arrive(std::uint32_t node, std::array<std::uint32_t, 3> known) {
    std::vector<std::byte> diff(platform::diff_bound(kUnit));
    diff.resize(
        kernels_.encode(copy_.bytes.data(), fetched_.bytes.data(), kUnit, true, diff.data()));
    protocol::ApplyDiff step{
        .block = BlockId{2}, .diff = diff, .writer = NodeId{node}, .known = known};
    auto turn = check_.hold();
    return check_.apply(step, kernels_, page_.bytes.data(), twin_.bytes.data());
  }

  const platform::DiffKernels& kernels_ = platform::diff_kernels();
  HomeCheck check_{NodeId{0}, 3, kUnit};
  Page page_, twin_, copy_, fetched_;
};

TEST_F(HomeCheckTest, DifferencesOfTwoNodesAreStoredAndCompared) {
  copy_[100] = copy_[101] = copy_[4095] = std::byte{1};
  ASSERT_TRUE(arrive(1, {}));
  EXPECT_EQ(page_[100], std::byte{1});
  EXPECT_EQ(twin_[4095], std::byte{1});
  copy_[101] = copy_[102] = std::byte{2};
  ASSERT_TRUE(arrive(2, {}));
  EXPECT_EQ(page_[102], std::byte{2});
  std::uint64_t left_out = 0;
  auto records = check_.records(left_out);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].first, 2 * kUnit + 101);
  EXPECT_EQ(records[0].bytes, 1u);
  EXPECT_EQ(left_out, 0u);
}

// The kernels store whole lines of such a difference.
TEST_F(HomeCheckTest, AWholePageIsStored) {
  copy_.bytes.fill(std::byte{7});
  ASSERT_TRUE(arrive(1, {}));
  EXPECT_EQ(page_.bytes, copy_.bytes);
  EXPECT_EQ(twin_.bytes, copy_.bytes);
}

TEST_F(HomeCheckTest, AMalformedDifferenceIsRefused) {
  std::array<std::byte, 24> diff;
  diff.fill(std::byte{0xff});
  std::array<std::uint32_t, 3> known{};
  protocol::ApplyDiff step{.block = BlockId{2}, .diff = diff, .writer = NodeId{1}, .known = known};
  auto turn = check_.hold();
  EXPECT_FALSE(check_.apply(step, kernels_, page_.bytes.data(), twin_.bytes.data()));
  EXPECT_EQ(page_.bytes, Page{}.bytes);
}

TEST_F(HomeCheckTest, AnAtomicOperationIsNobodysChange) {
  copy_[8] = std::byte{1};
  ASSERT_TRUE(arrive(1, {}));
  protocol::AtomicOp add{.kind = protocol::AtomicKind::kAdd, .size = 4, .offset = 8, .operand = 4};
  {
    auto turn = check_.hold();
    std::uint64_t before = protocol::perform(add, page_.bytes.data());
    check_.follow(2, add, before, twin_.bytes.data());
  }
  EXPECT_EQ(twin_[8], std::byte{5});
  std::array<std::uint32_t, 3> known{};
  protocol::CompareHome compare{BlockId{2}, known};
  EXPECT_EQ(check_.compare(compare, NodeId{0}, page_.bytes.data(), twin_.bytes.data()), 0u);
  copy_[8] = std::byte{9};
  ASSERT_TRUE(arrive(2, {}));
  std::uint64_t left_out = 0;
  EXPECT_TRUE(check_.records(left_out).empty());
}

TEST_F(HomeCheckTest, TheMaskOfADifferenceHasTheBytesThatDiffer) {
  protocol::ByteMask mask(kUnit / 64), expected(kUnit / 64);
  for (std::size_t i : {0u, 1u, 7u, 8u, 511u, 512u, 4095u}) {
    copy_[i] = std::byte{3};
    expected[i / 64] |= std::uint64_t{1} << i % 64;
  }
  std::vector<std::byte> diff(platform::diff_bound(kUnit));
  diff.resize(
      kernels_.encode(copy_.bytes.data(), fetched_.bytes.data(), kUnit, false, diff.data()));
  ASSERT_TRUE(platform::diff_mask(kUnit, diff, mask));
  EXPECT_EQ(mask, expected);
  diff.pop_back();
  EXPECT_FALSE(platform::diff_mask(kUnit, diff, mask));
}

}  // namespace
}  // namespace terrane::runtime
