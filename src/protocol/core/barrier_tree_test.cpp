#include "protocol/core/barrier_tree.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

// The only thread of node n is waiter n.
void enter_and_arrive(TestJob& job, std::uint32_t node, std::uint32_t id = 0) {
  job.step(node, BarrierEnter{BarrierId{id}, 1, WaiterId{node}});
  EXPECT_EQ(job.resumed[node].value, static_cast<std::uint64_t>(BarrierRole::kLast));
  job.resumed.clear();
  job.step(node, BarrierArrive{BarrierId{id}, WaiterId{node}});
}

class BarrierTreeTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(BarrierTreeTest, NobodyLeavesBeforeAllHaveComeAndThenAllDo) {
  std::uint32_t nodes = GetParam();
  for (std::uint32_t arity : {2u, 3u, 4u}) {
    TestJob job(nodes, 1024, arity);
    for (int round = 0; round < 3; ++round) {
      for (std::uint32_t n = nodes; n-- > 1;) enter_and_arrive(job, n);
      job.deliver_all();
      EXPECT_TRUE(job.resumed.empty());
      enter_and_arrive(job, 0);
      job.deliver_all();
      EXPECT_EQ(job.resumed.size(), nodes);
      for (std::uint32_t n = 0; n < nodes; ++n) {
        EXPECT_EQ(job.resumed[n].value, static_cast<std::uint64_t>(round + 1));
        job.step(n, Learn{job.resumed[n].payload, true});
        job.step(n, BarrierLeave{BarrierId{0}});
      }
      job.resumed.clear();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, BarrierTreeTest, testing::Values(1, 2, 3, 4, 5, 7, 16, 40));

Contribution bring(const std::int64_t& value, ReduceOp op = ReduceOp::kSum) {
  return {op, ReduceType::kInt64, std::as_bytes(std::span(&value, 1))};
}

TEST(BarrierTreeTest, EveryThreadGetsWhatAllBring) {
  constexpr std::uint32_t kNodes = 6;
  TestJob job(kNodes);
  for (std::int64_t round = 1; round <= 3; ++round) {
    const std::int64_t value = round * 10;
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      job.step(n, BarrierEnter{BarrierId{0}, 2, WaiterId{100 + n}, bring(value)});
      job.step(n, BarrierEnter{BarrierId{0}, 2, WaiterId{n}, bring(value)});
      job.step(n, BarrierArrive{BarrierId{0}, WaiterId{n}});
    }
    job.deliver_all();
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      job.step(n, Learn{job.resumed[n].payload, true});
      job.step(n, BarrierResult{BarrierId{0}, WaiterId{n}});
      job.step(n, BarrierLeave{BarrierId{0}});
      for (std::uint32_t waiter : {n, 100 + n}) {
        std::int64_t sum = 0;
        ASSERT_EQ(job.resumed[waiter].payload.size(), sizeof sum);
        std::memcpy(&sum, job.resumed[waiter].payload.data(), sizeof sum);
        EXPECT_EQ(sum, 2 * kNodes * value) << "round " << round << ", waiter " << waiter;
      }
    }
    job.resumed.clear();
  }
}

TEST(BarrierTreeTest, AllAreToldWhereContributionsDiffer) {
  TestJob job(5);
  const std::int64_t one = 1;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t n = 0; n < 5; ++n) {
      bool other = n == 4 && round == 0;
      job.step(n, BarrierEnter{BarrierId{0}, 1, WaiterId{n},
                               bring(one, other ? ReduceOp::kMin : ReduceOp::kSum)});
      job.step(n, BarrierArrive{BarrierId{0}, WaiterId{n}});
    }
    job.deliver_all();
    for (std::uint32_t n = 0; n < 5; ++n) {
      EXPECT_EQ(job.resumed[n].value >= kContributionsDiffer, round == 0) << n;
      job.step(n, BarrierLeave{BarrierId{0}});
    }
  }
}

// A node's answer to BarrierTold: 0 if it needs messages.
std::uint64_t told(TestJob& job, std::uint32_t node) {
  job.step(node, BarrierEnter{BarrierId{0}, 1, WaiterId{node}});
  job.step(node, BarrierTold{BarrierId{0}, WaiterId{node}});
  std::uint64_t value = job.resumed[node].value;
  job.resumed.clear();
  return value;
}

TEST(BarrierTreeTest, ANodeWithNoticesSaysSoUntilAnExitHasCarriedThem) {
  TestJob job(2);
  EXPECT_EQ(told(job, 0), 1u);  // no notices of a barrier exit have been learned
  std::vector<BlockRange> notices{{7, 1}};
  job.step(0, CloseInterval{&notices});
  EXPECT_EQ(told(job, 0), 0u);
  for (std::uint32_t n : {0u, 1u}) job.step(n, BarrierArrive{BarrierId{0}, WaiterId{n}});
  job.deliver_all();
  for (std::uint32_t n : {0u, 1u}) {
    job.step(n, Learn{job.resumed[n].payload, true});
    job.step(n, BarrierLeave{BarrierId{0}});
  }
  EXPECT_EQ(told(job, 0), 2u);
  EXPECT_EQ(told(job, 1), 2u);
}

TEST(BarrierTreeTest, WhoWasToldSomethingAlreadyHasToGoByMessages) {
  TestJob job(2);
  enter_and_arrive(job, 1);
  job.deliver_all();
  EXPECT_EQ(told(job, 0), 0u);
}

// Node 1 is ready to go on without messages, but node 0 contributes a value.
TEST(BarrierTreeTest, AValueThatOthersDoNotBringIsToldAfterARoundThatWasNotHeld) {
  TestJob job(2);
  const std::int64_t value = 5;
  EXPECT_EQ(told(job, 1), 1u);
  job.step(1, BarrierArrive{BarrierId{0}, WaiterId{1}});
  job.step(0, BarrierEnter{BarrierId{0}, 1, WaiterId{0}, bring(value)});
  job.step(0, BarrierTold{BarrierId{0}, WaiterId{0}});
  EXPECT_EQ(job.resumed[0].value, 0u);
  job.step(0, BarrierArrive{BarrierId{0}, WaiterId{0}});
  job.deliver_all();
  for (std::uint32_t n : {0u, 1u}) EXPECT_TRUE(job.resumed[n].value & kContributionsDiffer);
}

// A round that was held leaves nothing behind: the next one may reduce.
TEST(BarrierTreeTest, ARoundThatWasHeldLeavesNothing) {
  TestJob job(2);
  const std::int64_t value = 5;
  for (std::uint32_t n : {0u, 1u}) {
    EXPECT_EQ(told(job, n), 1u);
    job.step(n, BarrierLeave{BarrierId{0}});
  }
  for (std::uint32_t n : {0u, 1u}) {
    job.step(n, BarrierEnter{BarrierId{0}, 1, WaiterId{n}, bring(value)});
    job.step(n, BarrierArrive{BarrierId{0}, WaiterId{n}});
  }
  job.deliver_all();
  for (std::uint32_t n : {0u, 1u}) EXPECT_EQ(job.resumed[n].value, 1u);
}

TEST(BarrierTreeTest, TheExitCarriesTheIntervalsOfAllNodes) {
  TestJob job(5);
  std::vector<BlockRange> notices{{7, 1}};
  for (std::uint32_t n = 0; n < 5; ++n) {
    if (n != 2) job.step(n, CloseInterval{&notices});
    enter_and_arrive(job, n);
  }
  job.deliver_all();
  for (std::uint32_t n = 0; n < 5; ++n) job.step(n, Learn{job.resumed[n].payload, true});
  for (std::uint32_t n = 0; n < 5; ++n)
    EXPECT_EQ(job.core(n).timestamp(), (VectorTimestamp{1, 1, 0, 1, 1})) << "node " << n;
}

TEST(BarrierTreeTest, WhatCameByALockAfterItsWriterArrivedIsPassedOn) {
  TestJob job(3);
  enter_and_arrive(job, 2);
  std::vector<BlockRange> notices{{7, 1}};
  job.step(2, CloseInterval{&notices});  // by another thread of node 2
  job.step(2, LockAcquire{LockId{2}, WaiterId{20}});
  job.step(2, LockRelease{LockId{2}, WaiterId{20}});
  job.step(1, LockAcquire{LockId{2}, WaiterId{21}});
  job.deliver_all();
  job.step(1, Learn{job.resumed[21].payload, false});
  job.resumed.clear();
  enter_and_arrive(job, 1);
  enter_and_arrive(job, 0);
  job.deliver_all();
  job.step(0, Learn{job.resumed[0].payload, true});
  EXPECT_EQ(job.core(0).timestamp()[2], 1u);
}

TEST(BarrierTreeTest, AnIntervalThatManyKnowIsToldOnce) {
  TestJob job(7);
  std::vector<BlockRange> notices{{7, 1}};
  job.step(6, CloseInterval{&notices});
  job.step(6, LockAcquire{LockId{6}, WaiterId{20}});
  job.step(6, LockRelease{LockId{6}, WaiterId{20}});
  for (std::uint32_t n = 0; n < 6; ++n) {  // the lock goes from node to node
    job.step(n, LockAcquire{LockId{6}, WaiterId{30 + n}});
    job.deliver_all();
    job.step(n, Learn{job.resumed[30 + n].payload, false});
    job.step(n, LockRelease{LockId{6}, WaiterId{30 + n}});
  }
  job.resumed.clear();
  for (std::uint32_t n = 0; n < 7; ++n) enter_and_arrive(job, n);
  job.deliver_all();
  EXPECT_EQ(job.resumed[0].payload.size(),
            sizeof(wire::NoticeEntry) + sizeof(wire::NoticeRecord) + sizeof(std::uint64_t));
}

TEST(BarrierTreeTest, ThreadsOfANodeGatherFirst) {
  TestJob job(2);
  job.step(1, BarrierEnter{BarrierId{3}, 3, WaiterId{10}});
  job.step(1, BarrierEnter{BarrierId{3}, 3, WaiterId{11}});
  EXPECT_TRUE(job.resumed.empty());
  job.step(1, BarrierEnter{BarrierId{3}, 3, WaiterId{12}});
  ASSERT_TRUE(job.was_resumed(12));
  job.step(1, BarrierArrive{BarrierId{3}, WaiterId{12}});
  enter_and_arrive(job, 0, 3);
  job.deliver_all();
  job.step(1, BarrierLeave{BarrierId{3}});
  EXPECT_EQ(job.resumed[10].value, static_cast<std::uint64_t>(BarrierRole::kLeft));
  EXPECT_EQ(job.resumed[11].value, static_cast<std::uint64_t>(BarrierRole::kLeft));
}

TEST(BarrierTreeTest, TheRootGathersBeforeItEnters) {
  TestJob job(4);
  std::vector<BlockRange> notices{{7, 1}};
  job.step(3, CloseInterval{&notices});
  job.step(0, BarrierGather{BarrierId{0}, 2, true, WaiterId{50}});
  for (std::uint32_t n = 1; n < 4; ++n) enter_and_arrive(job, n);
  job.deliver_all();
  EXPECT_FALSE(job.was_resumed(50)) << "a thread of node 0 is missing";
  job.step(0, BarrierEnter{BarrierId{0}, 2, WaiterId{51}});
  ASSERT_TRUE(job.was_resumed(50));
  EXPECT_EQ(job.resumed[50].payload.size(),
            sizeof(wire::NoticeEntry) + sizeof(wire::NoticeRecord) + sizeof(std::uint64_t));
  EXPECT_EQ(job.core(0).timestamp()[3], 0u);
  job.step(0, Learn{job.resumed[50].payload, false});
  EXPECT_EQ(job.core(0).timestamp()[3], 1u);
  for (std::uint32_t n = 1; n < 4; ++n) EXPECT_EQ(job.resumed[n].payload.size(), 0u) << "no fork";
  job.step(0, BarrierEnter{BarrierId{0}, 2, WaiterId{52}});
  job.step(0, BarrierArrive{BarrierId{0}, WaiterId{52}});
  job.deliver_all();
  for (std::uint32_t n = 1; n < 4; ++n) EXPECT_EQ(job.resumed[n].value, 1u) << "the fork";
  EXPECT_FALSE(job.resumed[1].payload.empty());
}

TEST(BarrierTreeTest, AForkCarriesWhatTheRootTells) {
  for (std::uint32_t nodes : {2u, 5u}) {
    TestJob job(nodes);
    std::vector<std::byte> told(24, std::byte{3});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      Bytes values = n == 0 ? Bytes(told) : Bytes();
      job.step(n,
               BarrierEnter{
                   BarrierId{0}, 1, WaiterId{n}, {.op = ReduceOp::kBroadcast, .values = values}});
      job.step(n, BarrierArrive{BarrierId{0}, WaiterId{n}});
    }
    job.deliver_all();
    for (std::uint32_t n = 0; n < nodes; ++n) {
      job.step(n, BarrierResult{BarrierId{0}, WaiterId{n}});
      EXPECT_EQ(job.resumed[n].payload, told);
    }
  }
}

TEST(BarrierTreeTest, ANodeThatArrivesTwiceInARoundIsRefused) {
  TestJob job(3);
  enter_and_arrive(job, 1);
  TestJob::Message arrival = job.messages.front();
  job.deliver_all();
  EXPECT_EQ(job.malformed, 0);
  job.step(0, Received{arrival.from, arrival.bytes});
  EXPECT_EQ(job.malformed, 1);
}

TEST(BarrierTreeTest, TwoNodesSendOneMessageEach) {
  TestJob job(2);
  enter_and_arrive(job, 1);
  enter_and_arrive(job, 0);
  EXPECT_EQ(job.messages.size(), 2u);
  job.deliver();
  EXPECT_EQ(job.resumed[0].value, 1u);
  EXPECT_FALSE(job.was_resumed(1));
  job.deliver();
  EXPECT_EQ(job.resumed[1].value, 1u);
  EXPECT_TRUE(job.messages.empty());
}

// Each node has arrived at both barriers before it gets the other's arrivals: neither could tell
// which barrier ends first.
TEST(BarrierTreeTest, TwoNodesInSeveralBarriersDepartInOneOrder) {
  TestJob job(2);
  enter_and_arrive(job, 0, 7);
  enter_and_arrive(job, 1, 8);
  job.step(0, BarrierEnter{BarrierId{8}, 1, WaiterId{10}});
  job.step(1, BarrierEnter{BarrierId{7}, 1, WaiterId{11}});
  job.step(0, BarrierArrive{BarrierId{8}, WaiterId{10}});
  job.step(1, BarrierArrive{BarrierId{7}, WaiterId{11}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[0].value, job.resumed[11].value) << "barrier 7";
  EXPECT_EQ(job.resumed[10].value, job.resumed[1].value) << "barrier 8";
  EXPECT_EQ(job.resumed[0].value + job.resumed[10].value, 3u);
}

// One arrival of each of two nodes; that of node 0 carries a block.
struct ArrivalTest : testing::Test {
  void arrive(std::uint32_t node, bool acquired, std::uint32_t id = 0) {
    job.step(node, BarrierEnter{BarrierId{id}, 1, WaiterId{node}});
    job.step(node,
             BarrierArrive{BarrierId{id}, WaiterId{node}, acquired, node == 0 ? &blocks : nullptr});
  }
  std::uint64_t flags(std::uint32_t node) {
    return job.resumed[node].value & (kArrivalTaken | kCameWithArrival);
  }

  TestJob job{2};
  std::vector<std::uint64_t> blocks{5};
};

TEST_F(ArrivalTest, BlocksComeWithAnArrival) {
  std::vector<BlockRange> notices{{7, 1}};
  job.step(1, CloseInterval{&notices});
  arrive(0, false);
  arrive(1, false);
  job.deliver_all();
  EXPECT_EQ(flags(0), kArrivalTaken);
  EXPECT_EQ(flags(1), kArrivalTaken | kCameWithArrival);
  Bytes payload(job.resumed[1].payload);
  GrantHead head{};
  wire::GrantedBlock block;
  ASSERT_TRUE(wire::take(payload, head));
  EXPECT_EQ(head.notice_bytes,
            sizeof(wire::NoticeEntry) + sizeof(wire::NoticeRecord) + sizeof(std::uint64_t));
  payload = payload.subspan(head.notice_bytes);
  ASSERT_TRUE(wire::take(payload, block));
  EXPECT_EQ(block.block, 5u);
  EXPECT_EQ(payload.size(), CoreConfig{}.block_bytes);
}

TEST_F(ArrivalTest, BlocksAreLeftByWhoAcquiredOtherwise) {
  arrive(0, true);
  arrive(1, false);
  job.deliver_all();
  EXPECT_EQ(flags(0), kArrivalTaken);
  EXPECT_EQ(flags(1), kCameWithArrival);
  for (std::uint32_t n : {0u, 1u}) job.step(n, BarrierLeave{BarrierId{0}});
  arrive(0, false);
  arrive(1, true);
  job.deliver_all();
  EXPECT_EQ(flags(0), 0u);
  EXPECT_EQ(flags(1), kArrivalTaken);
}

TEST_F(ArrivalTest, BlocksAreLeftWhereTheTwoHaveSeenOtherExits) {
  arrive(0, false);
  job.step(0, BarrierEnter{BarrierId{1}, 1, WaiterId{10}});
  job.step(0, BarrierArrive{BarrierId{1}, WaiterId{10}});
  job.deliver_all();
  job.step(1, BarrierEnter{BarrierId{1}, 1, WaiterId{11}});
  job.step(1, BarrierArrive{BarrierId{1}, WaiterId{11}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[10].value, 1u);
  EXPECT_EQ(job.resumed[11].value, 1u);
  arrive(1, false);
  job.deliver_all();
  EXPECT_EQ(job.resumed[0].value, 2u);
  EXPECT_EQ(job.resumed[1].value, 2u);
}

TEST_F(ArrivalTest, BlocksThatAreNotWholeAreRefused) {
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{.barrier = 1});
  wire::put(bytes, wire::GrantedBlock{.block = 5, .home = 0, .bytes = CoreConfig{}.block_bytes});
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1);
  bytes.resize(bytes.size() + CoreConfig{}.block_bytes);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 2) << "not of the sender";
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 2);
}

TEST(BarrierTreeTest, BlocksComeFromTheOtherOfTwoNodesAlone) {
  TestJob job(3);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{.barrier = 1});
  wire::put(bytes, wire::GrantedBlock{.block = 5, .home = 1});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 1);
}

TEST(BarrierTreeTest, AnExitThatBothKnowIsRefused) {
  TestJob job(2);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{.kind = wire::Kind::kBarrierExit});
  enter_and_arrive(job, 1);
  job.step(1, Received{NodeId{0}, bytes});  // node 0 has not arrived
  EXPECT_EQ(job.malformed, 1);
  EXPECT_FALSE(job.was_resumed(1));
}

TEST(BarrierTreeTest, ArrivalsFromStrangersAreRefused) {
  TestJob job(7);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{});
  job.step(0, Received{NodeId{5}, bytes});  // a grandchild
  EXPECT_EQ(job.malformed, 1);
  bytes[0] = static_cast<std::byte>(wire::Kind::kBarrierExit);
  job.step(1, Received{NodeId{0}, bytes});  // before node 1 arrived
  EXPECT_EQ(job.malformed, 2);
}

TEST(BarrierTreeTest, AChildThatArrivesTwiceIsRefused) {
  TestJob job(3);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{.barrier = 1});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 0);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 1);
}

TEST(BarrierTreeTest, AnExitBeforeTheSubtreeArrivedIsRefused) {
  TestJob job(4);  // node 3 is the child of node 1
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::BarrierMessage{.kind = wire::Kind::kBarrierExit, .barrier = 1});
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1);
  job.step(1, BarrierArrive{BarrierId{1}, WaiterId{1}});
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 2);
  EXPECT_FALSE(job.was_resumed(1));
}

}  // namespace
}  // namespace terrane::protocol
