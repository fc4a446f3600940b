#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "platform/diff.h"
#include "platform/fault_source.h"
#include "platform/page_size.h"

// A write in the middle of a diff, at a place that does not depend on luck: the block lies across
// the boundary to a page that is missing, and the fault handler writes to the bytes before the
// boundary, which the kernel has loaded.
namespace terrane::platform {
namespace {

constexpr std::size_t kBytes = 512;
constexpr std::size_t kBefore = 256;  // bytes of the block that lie before the boundary

class DiffFaultTest : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!probe_fault_sources().userfaultfd) GTEST_SKIP() << probe_fault_sources().reason;
    mapping_ = DualMapping::create(2 * page_bytes(), nullptr, "test").value();
    source_ = make_fault_source(FaultSourceKind::kAutomatic, mapping_, on_fault, this).value();
    ASSERT_TRUE(mapping_.populate({0, 2 * page_bytes()}));
    source_->map({0, page_bytes()}, Access::kWrite);
    std::fill_n(memory(), kBytes, std::byte{1});
  }

  const DiffKernels& kernels() const { return all_diff_kernels()[GetParam()]; }
  std::size_t start() const { return page_bytes() - kBefore; }
  std::byte* page() const { return mapping_.app() + start(); }
  std::byte* memory() const { return mapping_.runtime() + start(); }
  bool home_is_current() const { return std::equal(home_, home_ + kBytes, memory()); }

  static FaultVerdict on_fault(void* context, std::uint64_t, Access) {
    auto& test = *static_cast<DiffFaultTest*>(context);
    ++test.faults_;
    std::fill_n(test.memory(), kBefore, std::byte{2});
    test.source_->map({page_bytes(), page_bytes()}, Access::kRead);
    return FaultVerdict::kRetry;
  }

  DualMapping mapping_;
  std::unique_ptr<FaultSource> source_;
  int faults_ = 0;
  alignas(64) std::byte twin_[kBytes]{};
  alignas(64) std::byte home_[kBytes]{};
};

TEST_P(DiffFaultTest, AWriteDuringAStoreIsNotLost) {
  kernels().store(page(), twin_, home_, kBytes, true);
  EXPECT_EQ(faults_, 1);
  kernels().store(page(), twin_, home_, kBytes, true);
  EXPECT_TRUE(home_is_current());
}

TEST_P(DiffFaultTest, AWriteDuringADiffIsNotLost) {
  std::vector<std::byte> diff(diff_bound(kBytes));
  for (int round = 0; round < 2; ++round) {
    std::size_t size = kernels().encode(page(), twin_, kBytes, true, diff.data());
    EXPECT_TRUE(kernels().apply(home_, kBytes, std::span(diff.data(), size)));
    EXPECT_EQ(faults_, 1);
  }
  EXPECT_TRUE(home_is_current());
}

TEST_P(DiffFaultTest, ABlockThatMovesWhileItIsCopiedMakesTwoEqualCopies) {
  alignas(64) std::byte copy[kBytes];
  kernels().copy(page(), copy, twin_, kBytes);
  EXPECT_EQ(faults_, 1);
  EXPECT_TRUE(std::equal(copy, copy + kBytes, twin_));
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, DiffFaultTest,
                         testing::Range<std::size_t>(0, all_diff_kernels().size()),
                         [](const auto& info) {
                           return std::string(all_diff_kernels()[info.param].name);
                         });

}  // namespace
}  // namespace terrane::platform
