#include "runtime/hot_pages.h"

#include <gtest/gtest.h>

#include <thread>

namespace terrane::runtime {
namespace {

using What = HotPages::What;

TEST(HotPagesTest, CountsByPageAndKind) {
  HotPages pages;
  for (int i = 0; i < 5; ++i) pages.note_fault(7, 24, 2000);
  pages.note(7, What::kFetched);
  pages.note(9, What::kRefreshed);
  pages.note(9, What::kFlushed, 8);
  auto hot = pages.hottest(16);
  ASSERT_EQ(hot.size(), 2u);
  EXPECT_EQ(hot[0].block, 7u);
  EXPECT_EQ(hot[0].total.faults, 5u);
  EXPECT_EQ(hot[0].total.fetched, 1u);
  EXPECT_EQ(hot[0].total.waited_ns, 10'000u);
  EXPECT_EQ(hot[0].offset, 24u);
  EXPECT_EQ(hot[1].total.refreshed, 1u);
  EXPECT_EQ(hot[1].total.flushed_bytes, 8u);
}

TEST(HotPagesTest, WhatIsRecentIsSinceTheLookBefore) {
  HotPages pages;
  for (int look = 1; look < 4; ++look) {
    for (int i = 0; i < 1000; ++i) pages.note(7, What::kFlushed, 10);
    auto hot = pages.hottest(1);
    ASSERT_EQ(hot.size(), 1u);
    EXPECT_EQ(hot[0].recent.flushed, 1000u);
    EXPECT_EQ(hot[0].total.flushed_bytes, 10'000u * static_cast<unsigned>(look));
  }
}

TEST(HotPagesTest, AHotPageStaysAmongAMillionThatComeOnce) {
  HotPages pages;
  for (std::uint64_t block = 0; block < 1'000'000; ++block) {
    pages.note(1'000'000 + block, What::kFetched);
    if (block % 100 == 0) pages.note_fault(5, 0, 3000);
  }
  auto hot = pages.hottest(1);
  ASSERT_EQ(hot.size(), 1u);
  EXPECT_EQ(hot[0].block, 5u);
  EXPECT_EQ(hot[0].total.faults, 10'000u);
}

TEST(HotPagesTest, WhatWasHotBeforeGivesWay) {
  HotPages pages;
  for (int i = 0; i < 100'000; ++i) pages.note(1, What::kFlushed, 1);
  for (int second = 0; second < 20; ++second) {
    for (int i = 0; i < 100; ++i) pages.note(2, What::kFlushed, 1);
    pages.hottest(4);
  }
  EXPECT_EQ(pages.hottest(1)[0].block, 2u);
  for (int second = 0; second < 40; ++second) pages.hottest(4);
  EXPECT_TRUE(pages.hottest(4).empty());
}

TEST(HotPagesTest, ThreadsMayCountWhileOneLooks) {
  HotPages pages;
  auto count = [&pages] {
    for (std::uint64_t i = 0; i < 100'000; ++i) pages.note(i % 50, What::kFetched);
  };
  std::thread one(count), other(count);
  for (int i = 0; i < 100; ++i) EXPECT_LE(pages.hottest(16).size(), 16u);
  one.join();
  other.join();
}

}  // namespace
}  // namespace terrane::runtime
