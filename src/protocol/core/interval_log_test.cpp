#include "protocol/core/interval_log.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

std::vector<std::byte> since(const IntervalLog& log, const VectorTimestamp& timestamp) {
  std::vector<std::byte> bytes;
  log.write_since(timestamp, bytes);
  return bytes;
}

struct Told {
  std::uint32_t node, interval;
  BlockRange range;
  bool operator==(const Told&) const = default;
};
std::vector<Told> told_by(Bytes notices) {
  std::vector<Told> told;
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry))
    while (reader.next_record(record))
      while (reader.next_range(range)) told.push_back({entry.node, record.interval, range});
  return told;
}

TEST(IntervalLogTest, TellsWhatLiesAfterATimestamp) {
  IntervalLog log(2, 100);
  log.append(0, 1, {{3, 1}});
  log.append(0, 2, {{5, 2}, {9, 1}});
  auto bytes = since(log, {1, 0});
  EXPECT_TRUE(wire::valid_notice_set(bytes, 2, 100));
  EXPECT_EQ(told_by(bytes), (std::vector<Told>{{0, 2, {5, 2}}, {0, 2, {9, 1}}}));
  EXPECT_TRUE(since(log, {2, 0}).empty());
}

TEST(IntervalLogTest, PassesOnWhatItLearned) {
  IntervalLog a(3, 100), b(3, 100), c(3, 100);
  a.append(0, 1, {{3, 1}});
  b.learn(since(a, b.timestamp()));
  b.append(1, 1, {{4, 1}});
  c.learn(since(b, c.timestamp()));
  EXPECT_EQ(c.timestamp(), (VectorTimestamp{1, 1, 0}));
  EXPECT_EQ(told_by(since(c, {0, 0, 0})), (std::vector<Told>{{0, 1, {3, 1}}, {1, 1, {4, 1}}}));
}

TEST(IntervalLogTest, LearnsAnIntervalOnce) {
  IntervalLog a(2, 100), b(2, 100);
  a.append(0, 1, {{3, 1}});
  auto bytes = since(a, {0, 0});
  b.learn(bytes);
  b.learn(bytes);
  EXPECT_EQ(b.ranges(), 1u);
  b.check_invariants();
}

TEST(IntervalLogTest, BeyondItsLimitTheOldestGoAndTheBaseSaysSo) {
  IntervalLog log(1, 4);
  for (std::uint32_t i = 1; i <= 50; ++i) {
    log.append(0, i, {{i, 1}});
    log.check_invariants();
    EXPECT_LE(log.ranges(), 4u);
  }
  auto bytes = since(log, {0});
  wire::NoticeReader reader(bytes);
  wire::NoticeEntry entry;
  ASSERT_TRUE(reader.next_entry(entry));
  EXPECT_GT(entry.base, 0u);
  EXPECT_EQ(entry.top, 50u);
}

TEST(IntervalLogTest, WhoLearnsAHoleCannotPassOnWhatLiesInIt) {
  IntervalLog a(2, 100), b(2, 100);
  a.append(0, 1, {{3, 1}});
  a.append(0, 2, {{4, 1}});
  b.learn(since(a, {1, 0}));  // as if the sender had forgotten the first interval
  EXPECT_EQ(b.timestamp()[0], 2u);
  auto bytes = since(b, {0, 0});
  wire::NoticeReader reader(bytes);
  wire::NoticeEntry entry;
  ASSERT_TRUE(reader.next_entry(entry));
  EXPECT_EQ(entry.base, 1u);
  b.check_invariants();
}

TEST(IntervalLogTest, ForgetsWhatAllKnow) {
  IntervalLog log(1, 1000);
  for (std::uint32_t i = 1; i <= 100; ++i) log.append(0, i, {{i, 1}});
  log.forget({90});
  EXPECT_EQ(log.ranges(), 10u);
  log.forget({1000});
  EXPECT_EQ(log.ranges(), 0u);
  log.append(0, 101, {{7, 1}});
  EXPECT_EQ(told_by(since(log, {100})), (std::vector<Told>{{0, 101, {7, 1}}}));
  log.check_invariants();
}

}  // namespace
}  // namespace terrane::protocol
