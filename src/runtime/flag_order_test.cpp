#include "runtime/flag_order.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kFlag = 100, kData = 8000, kAtomic = 1, kPlain = 2;

protocol::AccessInterval interval(std::uint32_t number, std::vector<std::uint32_t> known,
                                  std::vector<protocol::AccessedBytes> accesses) {
  return {number, std::move(known), std::move(accesses)};
}

protocol::AccessedBytes stores(std::uint64_t at, std::uint64_t place) { return {at, 4, 1, place}; }
protocol::AccessedBytes loads(std::uint64_t at, std::uint64_t place) { return {at, 4, 0, place}; }

RaceRecord record(std::uint64_t first, std::uint32_t earlier, std::uint32_t later) {
  RaceRecord one{.first = first, .bytes = 4, .times = 1, .nodes = {0, 1}};
  one.pairs = 1;
  one.intervals[0][0] = earlier;
  one.intervals[0][1] = later;
  return one;
}

// Node 0 stores data, then a flag, in its interval 3, and other data in its interval 4. Node 1 sees
// the flag in its interval 2.
FlagOrder flag_seen(std::uint64_t place_of_load) {
  FlagOrder::Intervals intervals(2);
  intervals[0] = {interval(3, {2, 0}, {stores(kData, kPlain), stores(kFlag, kAtomic)}),
                  interval(4, {3, 0}, {stores(kData + 64, kPlain)})};
  intervals[1] = {interval(
      2, {0, 1}, {loads(kFlag, place_of_load), stores(kData, kPlain), stores(kData + 64, kPlain)})};
  return FlagOrder(
      intervals, [](std::uint64_t place) { return place == kAtomic; },
      [](std::uint64_t) { return false; });
}

TEST(FlagOrderTest, WhatWasBeforeAFlagIsNoRaceAndWhatCameLaterIs) {
  FlagOrder order = flag_seen(kAtomic);
  std::vector<protocol::AccessRace> races = order.races();
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].first, kData + 64);
  EXPECT_TRUE(order.explains(record(kData, 3, 2)));
  EXPECT_FALSE(order.explains(record(kData, RaceRecord::kUnknown, 2)));
  EXPECT_FALSE(order.explains(record(kData + 64, 4, 2)));
  EXPECT_TRUE(order.explains(record(kData, 4, 2))) << "its bytes came into the next interval";
  EXPECT_FALSE(order.explains(record(kData, 5, 2)));
}

// The node that stores a flag knows nothing of the one that loads it.
TEST(FlagOrderTest, ALoadOrdersNothingOfTheStoringNode) {
  FlagOrder::Intervals intervals(2);
  intervals[0] = {interval(1, {0, 0}, {stores(kFlag, kAtomic)}),
                  interval(2, {1, 0}, {stores(kData, kPlain)})};
  intervals[1] = {interval(1, {0, 0}, {stores(kData, kPlain), loads(kFlag, kAtomic)})};
  FlagOrder order(
      intervals, [](std::uint64_t place) { return place == kAtomic; },
      [](std::uint64_t) { return false; });
  EXPECT_EQ(order.races().size(), 1u);
  EXPECT_FALSE(order.explains(record(kData, 2, 1)));
}

TEST(FlagOrderTest, APlainLoadOrdersNothing) {
  FlagOrder order = flag_seen(kPlain);
  EXPECT_EQ(order.races().size(), 3u);
  EXPECT_FALSE(order.explains(record(kData, 3, 2)));
}

TEST(FlagOrderTest, ARecordIsARaceIfOnePairIs) {
  FlagOrder order = flag_seen(kAtomic);
  order.races();
  RaceRecord two = record(kData, 3, 2);
  two.pairs = 2;
  two.intervals[1][0] = 5;
  two.intervals[1][1] = 2;
  EXPECT_FALSE(order.explains(two));
  RaceRecord many = record(kData, 3, 2);
  many.pairs = RaceRecord::kMostPairs + 1;
  EXPECT_FALSE(order.explains(many));
}

TEST(FlagOrderTest, AtomicStoresOfOneWordAreNoRace) {
  FlagOrder::Intervals intervals(2);
  for (auto& of_node : intervals) of_node = {interval(1, {0, 0}, {stores(kFlag, kAtomic)})};
  intervals[1][0].accesses.push_back(stores(kData, kPlain));
  FlagOrder order(
      intervals, [](std::uint64_t place) { return place == kAtomic; },
      [](std::uint64_t) { return false; });
  EXPECT_TRUE(order.races().empty());
  RaceRecord unknown = record(kFlag, 9, 9);
  EXPECT_TRUE(order.explains(unknown));
  unknown.first = kData;
  EXPECT_FALSE(order.explains(unknown));
}

}  // namespace
}  // namespace terrane::runtime
