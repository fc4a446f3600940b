#include "protocol/core/counts.h"

#include <gtest/gtest.h>

#include <limits>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr LockId kCount{(1ull << 32) + 1};  // of two nodes, node 1 manages it; of three, node 2
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class CountsTest : public testing::Test {
 protected:
  void acquire(std::uint32_t node, std::uint32_t waiter) {
    job.step(node, LockAcquire{kCount, WaiterId{waiter}});
    job.deliver_all();
    ASSERT_TRUE(job.was_resumed(waiter));
  }
  void release(std::uint32_t node, std::uint32_t waiter) {
    job.step(node, LockRelease{kCount, WaiterId{waiter}});
    job.deliver_all();
  }
  std::int64_t change(std::uint32_t node, std::uint32_t waiter, CountOp op, std::int64_t operand) {
    acquire(node, waiter);
    job.step(node, CountChange{kCount, op, operand, WaiterId{waiter}});
    auto result = static_cast<std::int64_t>(job.resumed[waiter].value);
    release(node, waiter);
    return result;
  }
  // Result: whether the count has reached the number already.
  bool await(std::uint32_t node, std::uint32_t waiter, std::int64_t until) {
    acquire(node, waiter);
    job.step(node, CountAwait{kCount, until, WaiterId{waiter}});
    bool reached = job.resumed[waiter].value != 0;
    release(node, waiter);
    return reached;
  }
  bool sleeps(std::uint32_t node, std::uint32_t waiter) {
    job.resumed.erase(waiter);
    job.step(node, CountSleep{WaiterId{waiter}});
    return !job.was_resumed(waiter);
  }

  TestJob job{3};
};

TEST_F(CountsTest, TheValueTravelsWithTheToken) {
  EXPECT_EQ(change(0, 1, CountOp::kAdd, 5), 0);
  EXPECT_EQ(change(1, 2, CountOp::kAdd, 6), 5);
  EXPECT_EQ(change(2, 3, CountOp::kMin, -2), 11);
  EXPECT_EQ(change(0, 1, CountOp::kSet, kMost), -2);
  EXPECT_EQ(change(2, 3, CountOp::kAdd, 1), kMost);
  EXPECT_EQ(change(1, 2, CountOp::kMax, 3), -kMost - 1) << "it wraps around";
}

TEST_F(CountsTest, ASleeperWakesWhereverTheCountIsChanged) {
  EXPECT_FALSE(await(0, 1, 2));
  EXPECT_FALSE(await(1, 2, 3));
  EXPECT_TRUE(sleeps(0, 1));
  EXPECT_TRUE(sleeps(1, 2));
  change(2, 3, CountOp::kAdd, 1);
  EXPECT_FALSE(job.was_resumed(1));
  change(1, 4, CountOp::kAdd, 1);
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_FALSE(job.was_resumed(2)) << "it waits for more";
  change(1, 4, CountOp::kAdd, 1);
  EXPECT_TRUE(job.was_resumed(2)) << "of this node, without a message";
  EXPECT_TRUE(await(0, 1, 3));
}

TEST_F(CountsTest, AWakeMayComeBeforeTheSleep) {
  EXPECT_FALSE(await(0, 1, 1));
  change(2, 3, CountOp::kAdd, 1);
  EXPECT_FALSE(sleeps(0, 1));
}

TEST_F(CountsTest, AWakeBringsWhatTheSleeperDoesNotKnow) {
  std::vector<BlockRange> written{{7, 2}};
  EXPECT_FALSE(await(0, 1, 1));
  EXPECT_TRUE(sleeps(0, 1));
  EXPECT_FALSE(await(1, 2, 2));
  EXPECT_TRUE(sleeps(1, 2));
  job.step(2, CloseInterval{&written});
  EXPECT_FALSE(await(2, 3, 2)) << "its node knows more than the others'";
  change(2, 4, CountOp::kAdd, 1);
  ASSERT_TRUE(job.was_resumed(1));
  EXPECT_EQ(job.resumed[1].value, static_cast<std::uint64_t>(Woken::kElsewhere));
  wire::NoticeReader reader(job.resumed[1].payload);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  ASSERT_TRUE(reader.next_entry(entry) && reader.next_record(record) && reader.next_range(range));
  EXPECT_EQ(entry.node, 2u);
  EXPECT_EQ(range, (BlockRange{7, 2}));
}

TEST_F(CountsTest, TicketsAreServedInTheirOrder) {
  EXPECT_EQ(change(0, 1, CountOp::kTicketIfFree, 1), 0) << "no unit";
  EXPECT_EQ(change(0, 1, CountOp::kTicket, 1), 1);
  EXPECT_EQ(change(1, 2, CountOp::kTicket, 1), 2);
  EXPECT_FALSE(await(1, 2, 2));
  EXPECT_FALSE(await(0, 1, 1));
  EXPECT_TRUE(sleeps(1, 2));
  EXPECT_TRUE(sleeps(0, 1));
  change(2, 3, CountOp::kAdd, 1);
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_FALSE(job.was_resumed(2));
  EXPECT_EQ(change(0, 4, CountOp::kTicketIfFree, 1), 0) << "the unit is taken";
  change(2, 3, CountOp::kAdd, 2);
  EXPECT_TRUE(job.was_resumed(2));
  EXPECT_EQ(change(0, 4, CountOp::kTicketIfFree, 1), 3);
}

TEST_F(CountsTest, ASignalThatNobodyWaitsForIsNone) {
  change(0, 1, CountOp::kSignal, 0);
  change(0, 1, CountOp::kSignalAll, 0);
  EXPECT_EQ(change(1, 2, CountOp::kTicket, 1), 1);
  EXPECT_FALSE(await(1, 2, 1));
  EXPECT_TRUE(sleeps(1, 2));
  change(0, 1, CountOp::kSignal, 0);
  EXPECT_TRUE(job.was_resumed(2));
}

TEST_F(CountsTest, WhoGivesUpLeavesItsTicketToThoseBehind) {
  change(0, 1, CountOp::kTicket, 1);
  EXPECT_FALSE(await(0, 1, 1));
  EXPECT_TRUE(sleeps(0, 1));
  change(1, 2, CountOp::kTicket, 1);
  EXPECT_FALSE(await(1, 2, 2));
  EXPECT_TRUE(sleeps(1, 2));
  job.resumed.erase(1);
  job.step(0, CountExpire{WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, 1u);
  acquire(0, 1);
  job.step(0, CountGiveUp{kCount, 1, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, 1u);
  release(0, 1);
  change(2, 3, CountOp::kAdd, 1);
  EXPECT_TRUE(job.was_resumed(2)) << "the unit is for the next waiting thread";
}

TEST_F(CountsTest, WhoWasWokenCannotGiveUp) {
  change(0, 1, CountOp::kTicket, 1);
  EXPECT_FALSE(await(0, 1, 1));
  EXPECT_TRUE(sleeps(0, 1));
  job.resumed.erase(1);
  job.step(0, CountExpire{WaiterId{1}});
  ASSERT_TRUE(job.was_resumed(1));
  change(2, 3, CountOp::kAdd, 1);
  acquire(0, 1);
  job.step(0, CountGiveUp{kCount, 1, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, 0u);
  release(0, 1);
  EXPECT_FALSE(sleeps(0, 1)) << "the wake has come";
  job.resumed.erase(1);
  job.step(0, CountExpire{WaiterId{1}});
  EXPECT_FALSE(job.was_resumed(1)) << "nobody sleeps";
}

TEST_F(CountsTest, AWriterTakesTheRoomOfAllReaders) {
  auto take = [&](std::uint32_t node, std::uint32_t waiter, std::int64_t units) {
    acquire(node, waiter);
    job.step(node, CountChange{kCount, CountOp::kTicketIfFree, units, WaiterId{waiter}, 8});
    auto result = static_cast<std::int64_t>(job.resumed[waiter].value);
    release(node, waiter);
    return result;
  };
  EXPECT_EQ(take(0, 1, 1), 1);
  EXPECT_EQ(take(1, 2, 1), 2);
  EXPECT_EQ(take(2, 3, 8), 0) << "two read";
  change(0, 1, CountOp::kAdd, 1);
  change(1, 2, CountOp::kAdd, 1);
  EXPECT_EQ(take(2, 3, 8), 10);
  EXPECT_EQ(take(0, 1, 1), 0) << "one writes";
  EXPECT_EQ(change(0, 1, CountOp::kFree, 8), 0);
  change(2, 3, CountOp::kAdd, 8);
  EXPECT_EQ(take(0, 1, 1), 11);
}

TEST_F(CountsTest, ThoseWhoMeetAreCountedInRounds) {
  EXPECT_EQ(change(0, 1, CountOp::kArrive, 0), 0) << "nobody has said how many meet";
  change(0, 1, CountOp::kTicket, 2);
  EXPECT_EQ(change(0, 1, CountOp::kArrive, 0), 2);
  EXPECT_EQ(change(1, 2, CountOp::kArrive, 0), 2);
  EXPECT_EQ(change(2, 3, CountOp::kArrive, 0), 4);
  change(0, 1, CountOp::kReset, 5);
  EXPECT_EQ(change(0, 1, CountOp::kFree, 0), 5);
}

TEST_F(CountsTest, WhoHoldsALockIsKnown) {
  job.step(2, LockHeld{kCount, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, 0u);
  acquire(2, 1);
  job.step(2, LockHeld{kCount, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, 1u);
  job.step(2, LockHeld{kCount, WaiterId{2}});
  EXPECT_EQ(job.resumed[2].value, 0u) << "another thread";
}

TEST_F(CountsTest, MalformedMessagesAreRefused) {
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::CountWake{.waiter = 7});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 1) << "nobody sleeps";
  EXPECT_FALSE(await(0, 7, 1));
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 1);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 2) << "it was woken already";
  bytes.push_back(std::byte{0});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 3) << "too long";

  job.step(0, LockAcquire{kCount, WaiterId{8}});
  bytes.clear();
  wire::put(bytes, wire::LockGrant{.sleepers = 2, .lock = kCount.value});
  wire::put(bytes, wire::Sleeper{.node = 1});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 4) << "a sleeper is missing";
  wire::put(bytes, wire::Sleeper{.node = 3});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 5) << "there is no node 3";
}

}  // namespace
}  // namespace terrane::protocol
