#include "runtime/sharing_watch.h"

#include <gtest/gtest.h>

#include <array>

namespace terrane::runtime {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr std::uint64_t kPage = 9;
using Page = std::array<std::byte, kBytes>;

// Node 1 of two, which has a copy of a page of node 0.
class SharingWatchTest : public testing::Test {
 protected:
  // So many events come before the page is recorded.
  SharingWatchTest() {
    for (int i = 1; i < SharingWatch::kFirst; ++i)
      watch_.arrives(kPage, NodeId{0}, &here_[0], &home_[0]);
  }
  void write(std::size_t byte) {
    Page twin = here_;
    here_[byte] ^= std::byte{1};
    home_[byte] = here_[byte];
    watch_.flushes(kPage, here_.data(), twin.data());
  }
  void others_write(std::size_t byte) { home_[byte] ^= std::byte{1}; }
  void come() {
    watch_.arrives(kPage, NodeId{0}, here_.data(), home_.data());
    here_ = home_;
  }
  SharingRecord only() {
    std::vector<SharingRecord> all = watch_.records(10);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? SharingRecord{} : all[0];
  }

  SharingWatch watch_{2, kBytes};
  Page here_{}, home_{};
};

bool has(const PageMask& mask, std::size_t byte) { return (mask[byte / 64] >> byte % 64 & 1) != 0; }

TEST_F(SharingWatchTest, OtherBytesAreFalseSharing) {
  write(100);
  others_write(200);
  come();
  SharingRecord one = only();
  EXPECT_EQ(one.counts.block, kPage);
  EXPECT_EQ(one.counts.kind(), SharingKind::kApart);
  EXPECT_EQ(one.counts.homes[0], 0u);
  EXPECT_EQ(one.counts.flushed, 1u);
  EXPECT_TRUE(has(one.mine, 100));
  EXPECT_FALSE(has(one.mine, 200));
  EXPECT_TRUE(has(one.theirs, 200));
}

TEST_F(SharingWatchTest, EachByteThatDiffersIsShown) {
  const std::size_t bytes[] = {0, 7, 8, 63, 64, 1001, kBytes - 1};
  Page twin = here_;
  for (std::size_t byte : bytes) here_[byte] ^= std::byte(1 << byte % 8);
  watch_.flushes(kPage, here_.data(), twin.data());
  PageMask expected(kBytes / 64);
  for (std::size_t byte : bytes) expected[byte / 64] |= std::uint64_t{1} << byte % 64;
  EXPECT_EQ(only().written, expected);
}

TEST_F(SharingWatchTest, TheSameBytesAreTrueSharing) {
  write(100);
  others_write(100);
  others_write(200);
  come();
  EXPECT_EQ(only().counts.kind(), SharingKind::kSame);
}

TEST_F(SharingWatchTest, WhoWroteNothingReads) {
  write(100);
  others_write(200);
  come();
  for (int i = 0; i < 2; ++i) {
    others_write(100);
    come();
  }
  SharingCounts counts = only().counts;
  EXPECT_EQ(counts.again[2], 2u);
  EXPECT_EQ(counts.kind(), SharingKind::kRead);
}

TEST_F(SharingWatchTest, BytesAsBeforeAreNoChange) {
  write(100);
  come();
  others_write(100);
  come();
  SharingCounts counts = only().counts;
  EXPECT_EQ(counts.unchanged, 1u);
  EXPECT_EQ(counts.again[1], 1u);  // what it wrote counts from the last change of others on
}

TEST_F(SharingWatchTest, ACopyInTheStagingBufferCountsWhenItIsMerged) {
  write(100);
  others_write(200);
  watch_.sends({kPage, 1}, NodeId{0});
  EXPECT_EQ(only().counts.changed(), 0u);
  watch_.merges(kPage, here_.data(), home_.data());
  EXPECT_EQ(only().counts.again[0], 1u);
  EXPECT_EQ(only().counts.homes[0], 0u);
}

TEST_F(SharingWatchTest, ACopyThatCameWithAGrantCountsAndLeavesTheHome) {
  for (NodeId home : {NodeId{0}, kNoNode}) {
    write(100);
    others_write(200);
    watch_.sends({kPage, 1}, home);
    watch_.merges(kPage, here_.data(), home_.data());
    here_ = home_;
  }
  EXPECT_EQ(only().counts.changed(), 2u);
  EXPECT_EQ(only().counts.homes[0], 0u);
}

TEST_F(SharingWatchTest, PagesThatComeForTheFirstTimeAreCountedByTheirHome) {
  watch_.arrives(kPage + 1, NodeId{0}, nullptr, home_.data());
  watch_.waited(kPage + 1, 500, true);
  EXPECT_EQ(watch_.first_from(NodeId{0}), 1u);
  EXPECT_EQ(watch_.first_from(NodeId{1}), 0u);
  EXPECT_EQ(watch_.first_ns(), 500u);
  EXPECT_TRUE(watch_.records(10).empty());
}

TEST_F(SharingWatchTest, ThePagesThatCostMostComeFirst) {
  write(100);
  watch_.waited(kPage, 70, true);
  for (std::uint64_t other : {kPage + 1, kPage + 2}) {
    for (int i = 0; i < SharingWatch::kFirst; ++i)
      watch_.arrives(other, NodeId{0}, here_.data(), home_.data());
    watch_.waited(other, 10 * other, true);
  }
  std::vector<SharingRecord> all = watch_.records(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].counts.block, kPage + 2);
  EXPECT_EQ(all[1].counts.block, kPage + 1);
  EXPECT_EQ(all[1].counts.waited_ns, 100u);
}

// For a report that must cost little: later ones are sampled, and count as the kind of those that
// were looked at.
TEST_F(SharingWatchTest, ItMayLookAtSomeOfThem) {
  SharingWatch some(2, kBytes, SharingWatch::Looks::kSome);
  auto round = [&] {
    Page twin = here_;
    here_[100] ^= std::byte{1};
    home_[100] = here_[100];
    some.flushes(kPage, here_.data(), twin.data());
    home_[200] ^= std::byte{1};
    some.arrives(kPage, NodeId{0}, here_.data(), home_.data());
    some.waited(kPage, 10, true);
    here_ = home_;
  };
  for (int i = 0; i < SharingWatch::kFirstOfSome / 2 - 1; ++i) round();
  EXPECT_TRUE(some.records(10).empty());
  for (int i = 0; i < 1000; ++i) round();
  ASSERT_EQ(some.records(10).size(), 1u);
  SharingRecord one = some.records(10)[0];
  EXPECT_EQ(one.counts.kind(), SharingKind::kApart);
  constexpr double kTurn = SharingWatch::kSampled;
  EXPECT_NEAR(static_cast<double>(one.counts.again[0]), 1000, 2 * kTurn);
  EXPECT_NEAR(static_cast<double>(one.counts.flushed), 1000, 2 * kTurn);
  EXPECT_NEAR(static_cast<double>(one.counts.waited_ns), 10'000, 20 * kTurn);
  EXPECT_TRUE(has(one.mine, 100) && has(one.theirs, 200));
}

TEST_F(SharingWatchTest, ItsMemoryIsBounded) {
  for (std::uint64_t page = 0; page < 20000; ++page)
    for (int i = 0; i < SharingWatch::kFirst; ++i)
      watch_.arrives(page, NodeId{0}, here_.data(), home_.data());
  std::size_t kept = watch_.records(~std::size_t{0}).size();
  EXPECT_GT(kept, 1000u);
  EXPECT_LT(kept, 5000u);
  EXPECT_GE(watch_.left_out(), 20000 - kept);
}

}  // namespace
}  // namespace terrane::runtime
