#include "wire/notice_set.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace terrane::wire {
namespace {

std::vector<std::byte> sample() {
  std::vector<std::byte> bytes;
  NoticeWriter writer(bytes);
  writer.entry(0, 3, 7);
  writer.record(5);
  writer.range({10, 4});
  writer.range({20, 1});
  writer.record(7);
  writer.range({0, 1});
  writer.entry(2, 0, 0);
  return bytes;
}

std::vector<std::byte> one_entry(NoticeEntry entry) {
  std::vector<std::byte> bytes(sizeof entry);
  std::memcpy(bytes.data(), &entry, sizeof entry);
  return bytes;
}

TEST(NoticeSetTest, ReadsBackWhatWasWritten) {
  auto bytes = sample();
  NoticeReader reader(bytes);
  NoticeEntry entry;
  NoticeRecord record;
  BlockRange range;
  ASSERT_TRUE(reader.next_entry(entry));
  EXPECT_EQ(entry.base, 3u);
  EXPECT_EQ(entry.top, 7u);
  ASSERT_TRUE(reader.next_record(record));
  EXPECT_EQ(record.interval, 5u);
  ASSERT_TRUE(reader.next_range(range));
  EXPECT_EQ(range, (BlockRange{10, 4}));
  ASSERT_TRUE(reader.next_range(range));
  EXPECT_FALSE(reader.next_range(range));
  ASSERT_TRUE(reader.next_record(record));
  ASSERT_TRUE(reader.next_range(range));
  EXPECT_FALSE(reader.next_record(record));
  ASSERT_TRUE(reader.next_entry(entry));
  EXPECT_EQ(entry.node, 2u);
  EXPECT_FALSE(reader.next_entry(entry));
  EXPECT_FALSE(reader.bad());
}

TEST(NoticeSetTest, ARangeBeyondTheFieldIsSplit) {
  std::vector<std::byte> bytes;
  NoticeWriter writer(bytes);
  writer.entry(0, 0, 1);
  writer.record(1);
  writer.range({5, kMaxRangeBlocks + 10});
  NoticeReader reader(bytes);
  NoticeEntry entry;
  NoticeRecord record;
  BlockRange first, second;
  ASSERT_TRUE(reader.next_entry(entry) && reader.next_record(record));
  EXPECT_EQ(record.ranges, 2u);
  ASSERT_TRUE(reader.next_range(first) && reader.next_range(second));
  EXPECT_EQ(first.end(), second.first);
  EXPECT_EQ(second.end(), 5 + kMaxRangeBlocks + 10);
}

TEST(NoticeSetTest, EverySetThatIsCutIsRefusedOrShorter) {
  auto bytes = sample();
  EXPECT_TRUE(valid_notice_set(bytes, 3, 100));
  std::size_t whole = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    whole += valid_notice_set(Bytes(bytes).first(size), 3, 100);
  EXPECT_EQ(whole, 2u) << "the empty set, and the first entry alone";
}

TEST(NoticeSetTest, WhatLiesOutsideTheJobIsRefused) {
  auto bytes = sample();
  EXPECT_FALSE(valid_notice_set(bytes, 2, 100)) << "node 2 of 2";
  EXPECT_FALSE(valid_notice_set(bytes, 3, 20)) << "block 20 of 20";
}

TEST(NoticeSetTest, IntervalsThatCannotBeAreRefused) {
  auto falling = one_entry({0, 5, 4, 0});
  EXPECT_FALSE(valid_notice_set(falling, 3, 100)) << "base after top";
  auto covered = one_entry({0, 3, 7, 1});
  put(covered, NoticeRecord{3, 0});
  EXPECT_FALSE(valid_notice_set(covered, 3, 100)) << "an interval that the base covers";
}

// Whatever the bytes are, reading ends and stays within them.
TEST(NoticeSetTest, RandomBytesDoNoHarm) {
  base::Prng rng(1);
  for (int i = 0; i < 20000; ++i) {
    auto bytes = sample();
    for (std::uint32_t flips = rng.below(8); flips-- > 0;)
      bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(rng.next());
    bytes.resize(rng.below(static_cast<std::uint32_t>(bytes.size()) + 1));
    (void)valid_notice_set(bytes, 3, 100);
  }
}

}  // namespace
}  // namespace terrane::wire
