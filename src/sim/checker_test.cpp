#include "sim/checker.h"

#include <gtest/gtest.h>

namespace terrane::sim {
namespace {

// Three threads and one block. Every access is to its first byte unless a test says otherwise.
class CheckerTest : public testing::Test {
 protected:
  void begin(bool racy) {
    program_.setup.racy = racy;
    program_.regions = {{1, 0, 0}};
    program_.thread_node = {0, 1, 2};
    checker_.begin(program_);
  }
  void store(std::uint32_t thread, std::uint64_t value, std::uint8_t size = 1) {
    checker_.store(thread, {.kind = OpKind::kStore, .size = size, .at = 0, .value = value});
  }
  bool may_load(std::uint32_t thread, std::uint64_t value, std::uint8_t size = 1) {
    return checker_.may_load(thread, {.size = size}, value);
  }
  void pass_lock(std::uint32_t from, std::uint32_t to) {
    checker_.clocks().release(from, 0);
    checker_.clocks().acquire(to, 0);
  }

  Program program_;
  Checker checker_;
};

TEST_F(CheckerTest, WithoutRacesOnlyTheLastStoreMayBeLoaded) {
  begin(false);
  EXPECT_TRUE(may_load(1, 0));
  store(0, 5);
  EXPECT_TRUE(may_load(1, 5));
  EXPECT_FALSE(may_load(1, 0));
}

TEST_F(CheckerTest, AStoreThatRacesMayBeSeenOrNot) {
  begin(true);
  store(0, 5);
  EXPECT_TRUE(may_load(1, 5));
  EXPECT_TRUE(may_load(1, 0));
  EXPECT_FALSE(may_load(1, 6)) << "nobody stored it";
  EXPECT_FALSE(may_load(0, 0)) << "its own thread has overwritten that";
}

TEST_F(CheckerTest, WhatIsOverwrittenBeforeTheLoadIsGone) {
  begin(true);
  store(0, 5);
  store(0, 6);
  pass_lock(0, 1);
  EXPECT_TRUE(may_load(1, 6));
  EXPECT_FALSE(may_load(1, 5));
  EXPECT_FALSE(may_load(1, 0));
  EXPECT_TRUE(may_load(2, 5)) << "it has not heard of the lock";
}

TEST_F(CheckerTest, OrderGoesOnThroughThirdThreads) {
  begin(true);
  store(0, 5);
  pass_lock(0, 1);
  store(1, 6);
  pass_lock(1, 2);
  EXPECT_FALSE(may_load(2, 5));
  EXPECT_TRUE(may_load(2, 6));
}

TEST_F(CheckerTest, BytesOfAWordAreJudgedOneByOne) {
  begin(true);
  store(0, 0x0505, 2);
  store(1, 0x06);
  EXPECT_TRUE(may_load(2, 0x0506, 2));
  EXPECT_TRUE(may_load(2, 0x0006, 2));
  EXPECT_FALSE(may_load(2, 0x0605, 2));
}

TEST_F(CheckerTest, BarriersOrderAllThreads) {
  begin(true);
  store(0, 5);
  for (std::uint32_t t = 0; t < 3; ++t) checker_.clocks().enter(t, 1, 3);
  for (std::uint32_t t = 0; t < 3; ++t) EXPECT_TRUE(checker_.clocks().leave(t, 1, 3));
  EXPECT_FALSE(may_load(2, 0));
}

TEST_F(CheckerTest, ABarrierThatIsLeftTooEarlyIsTold) {
  begin(true);
  checker_.clocks().enter(0, 1, 3);
  checker_.clocks().enter(1, 1, 3);
  EXPECT_FALSE(checker_.clocks().leave(0, 1, 3));
}

TEST_F(CheckerTest, OfTwoRacingStoresOfOneValueTheReleasedOneMayBeMissed) {
  begin(true);
  store(0, 7);  // not released
  store(1, 5);
  store(1, 7);  // thread 1 may have found the value there
  pass_lock(1, 2);
  EXPECT_TRUE(may_load(2, 0));
  store(1, 8);
  pass_lock(1, 2);
  EXPECT_FALSE(may_load(2, 0)) << "8 is nobody else's";
}

// Thread 1's 5 was in the memory of its node when its sibling 2 stored 7 there. Thread 0 had stored
// 7 at the home already. So their node gives a notice of neither store.
TEST_F(CheckerTest, SoMayWhatASiblingHadOverwrittenBefore) {
  for (std::uint64_t last : {7, 8}) {
    begin(true);
    program_.thread_node = {0, 1, 1, 2};
    checker_.begin(program_);
    store(0, 7);
    store(1, 5);
    store(2, last);
    pass_lock(1, 3);
    pass_lock(2, 3);
    EXPECT_EQ(may_load(3, 0), last == 7) << last;
  }
}

// The release of an unlock is deferred, so it finds what the thread stored behind the unlock.
TEST_F(CheckerTest, SoMayWhatWasOverwrittenBeforeADeferredRelease) {
  for (std::uint64_t last : {7, 8}) {
    begin(true);
    store(0, 7);
    store(1, 5);
    checker_.clocks().release(1, 0);
    store(1, last);
    checker_.clocks().acquire(2, 0);
    EXPECT_EQ(may_load(2, 0), last == 7) << last;
  }
}

// A refresh of node 1's copy has put the racing 5 over thread 1's 6, which was not released yet. So
// no notice reports the 6. That is known of the node and of the byte where it happened.
TEST_F(CheckerTest, AStoreThatARefreshOverwroteMayBeMissed) {
  begin(true);
  checker_.allocated(0, 9);
  store(0, 5);
  store(1, 6);
  pass_lock(1, 2);
  EXPECT_FALSE(may_load(2, 0));
  checker_.refreshed(0, 9, 0);
  checker_.refreshed(1, 9, 1);
  EXPECT_FALSE(may_load(2, 0)) << "another node's copy, and another byte";
  checker_.refreshed(1, 9, 0);
  EXPECT_TRUE(may_load(2, 0));
}

TEST_F(CheckerTest, ARefreshHidesNoStoreThatDoesNotRace) {
  begin(true);
  checker_.allocated(0, 9);
  store(0, 5);
  pass_lock(0, 1);
  store(1, 6);
  pass_lock(1, 2);
  checker_.refreshed(1, 9, 0);
  EXPECT_FALSE(may_load(2, 5));
}

TEST_F(CheckerTest, AllNodesMustReadTheSameAtTheEnd) {
  begin(true);
  Op final_load{.kind = OpKind::kFinalLoad, .size = 8};
  EXPECT_TRUE(checker_.agrees(final_load, 3));
  EXPECT_TRUE(checker_.agrees(final_load, 3));
  EXPECT_FALSE(checker_.agrees(final_load, 4));
}

}  // namespace
}  // namespace terrane::sim
