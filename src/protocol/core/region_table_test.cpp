#include "protocol/core/region_table.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

RegionAllocate request(std::uint64_t blocks, std::uint32_t waiter, std::uint32_t sequence = 0,
                       Homes homes = Homes::kFirstTouch) {
  RegionAllocate allocate{};
  allocate.blocks = blocks;
  allocate.bytes = blocks * 4096;
  allocate.policy.homes = homes;
  allocate.sequence = sequence;
  allocate.waiter = WaiterId{waiter};
  return allocate;
}

wire::RegionReply reply_of(TestJob& job, std::uint32_t waiter) {
  wire::RegionReply reply;
  Bytes bytes(job.resumed.at(waiter).payload);
  EXPECT_TRUE(wire::take(bytes, reply));
  return reply;
}

void drop_once(TestJob& job) {
  auto drops = std::move(job.drops);
  job.drops.clear();
  for (auto& [node, drop] : drops) job.step(node, RegionDropped{drop.region, drop.blocks});
  job.deliver_all();
}

// Drops each freed region twice, as nodes do.
void drop_all(TestJob& job) {
  drop_once(job);
  drop_once(job);
}

TEST(RegionTableTest, AllocationsDoNotOverlap) {
  TestJob job(3);
  job.step(1, request(10, 1));
  job.step(0, request(20, 2));
  job.step(2, request(5, 3));
  job.deliver_all();
  EXPECT_EQ(reply_of(job, 2).first, 0u);
  EXPECT_EQ(reply_of(job, 1).first, 20u);
  EXPECT_EQ(reply_of(job, 3).first, 30u);
}

TEST(RegionTableTest, ACollectiveAllocationIsMadeOnce) {
  TestJob job(3);
  for (std::uint32_t n = 0; n < 2; ++n) job.step(n, request(10, n, 1));
  job.step(2, request(11, 9, 1));
  job.deliver_all();
  for (std::uint32_t n = 0; n < 2; ++n) EXPECT_EQ(reply_of(job, n).first, 0u);
  EXPECT_EQ(reply_of(job, 9).status, wire::RegionStatus::kMismatch);
}

TEST(RegionTableTest, ACollectiveAllocationThatEverybodyMadeIsForgotten) {
  TestJob job(3);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t n = 0; n < 3; ++n) job.step(n, request(10, n, 7));
    job.deliver_all();
    for (std::uint32_t n = 0; n < 3; ++n) EXPECT_EQ(reply_of(job, n).first, round * 10u);
  }
  EXPECT_EQ(job.malformed, 0);
}

TEST(RegionTableTest, ACollectiveAllocationThatWasFreedBeforeAllMadeItIsAMismatch) {
  TestJob job(2);
  job.step(1, request(10, 1, 1));
  job.deliver_all();
  job.step(1, RegionFree{BlockId{0}, WaiterId{2}});
  job.deliver_all();
  drop_all(job);
  job.step(0, request(10, 3));
  EXPECT_EQ(reply_of(job, 3).first, 0u) << "the freed blocks";
  job.step(0, request(10, 4, 1));
  EXPECT_EQ(reply_of(job, 4).status, wire::RegionStatus::kMismatch);
}

TEST(RegionTableTest, ACollectiveAllocationWithoutSpaceFailsOnEveryNode) {
  TestJob job(3, 16);
  job.step(0, request(16, 5));
  for (std::uint32_t n = 0; n < 2; ++n) job.step(n, request(10, n, 1));
  job.deliver_all();
  job.step(0, RegionFree{BlockId{0}, WaiterId{6}});
  job.deliver_all();
  drop_all(job);
  job.step(2, request(10, 2, 1));
  job.deliver_all();
  for (std::uint32_t n = 0; n < 3; ++n) {
    EXPECT_EQ(reply_of(job, n).status, wire::RegionStatus::kNoSpace);
  }
}

TEST(RegionTableTest, FreedBlocksAreGivenOutOnlyWhenEveryNodeDroppedThem) {
  TestJob job(3, 16);
  job.step(1, request(16, 1));
  job.deliver_all();
  job.step(2, RegionFree{BlockId{0}, WaiterId{2}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[2].value, static_cast<std::uint64_t>(wire::RegionStatus::kOk));
  ASSERT_EQ(job.drops.size(), 3u);
  job.step(1, request(16, 3));
  job.deliver_all();
  EXPECT_EQ(reply_of(job, 3).status, wire::RegionStatus::kNoSpace);
  drop_all(job);
  job.step(1, request(16, 4));
  job.deliver_all();
  EXPECT_EQ(reply_of(job, 4).status, wire::RegionStatus::kOk);
}

// A node that has not dropped the blocks yet may store at homes that have.
void expect_dropped_twice(Protocol protocol) {
  TestJob job(3, 32, 2, 16);
  RegionAllocate region = request(16, 1);
  region.policy.protocol = protocol;
  job.step(1, region);
  job.deliver_all();
  job.step(2, RegionFree{BlockId{protocol == Protocol::kSc ? 16u : 0u}, WaiterId{2}});
  job.deliver_all();
  for (std::uint32_t round = 0; round < 2; ++round) {
    ASSERT_EQ(job.drops.size(), 3u);
    region.waiter = WaiterId{3 + round};
    job.step(1, region);
    job.deliver_all();
    EXPECT_EQ(reply_of(job, 3 + round).status, wire::RegionStatus::kNoSpace);
    drop_once(job);
  }
  EXPECT_TRUE(job.drops.empty());
  region.waiter = WaiterId{5};
  job.step(1, region);
  job.deliver_all();
  EXPECT_EQ(reply_of(job, 5).status, wire::RegionStatus::kOk);
}

TEST(RegionTableTest, FreedBlocksAreDroppedTwice) {
  for (Protocol protocol : {Protocol::kHlrc, Protocol::kErc, Protocol::kSc})
    expect_dropped_twice(protocol);
}

TEST(RegionTableTest, FreeSpaceIsJoinedAgain) {
  TestJob job(2, 30);
  for (std::uint32_t i = 0; i < 3; ++i) job.step(0, request(10, i));
  for (std::uint64_t first : {0, 20, 10}) {
    job.step(0, RegionFree{BlockId{first}, WaiterId{9}});
    job.deliver_all();
    drop_all(job);
  }
  job.step(0, request(30, 5));
  EXPECT_EQ(reply_of(job, 5).status, wire::RegionStatus::kOk);
}

TEST(RegionTableTest, WhatIsNotAllocatedCannotBeFreedNorFound) {
  TestJob job(2);
  job.step(1, request(4, 1));
  job.deliver_all();
  for (std::uint64_t first : {1, 4, 500}) {
    job.step(1, RegionFree{BlockId{first}, WaiterId{2}});
    job.deliver_all();
    EXPECT_EQ(job.resumed[2].value, static_cast<std::uint64_t>(wire::RegionStatus::kUnknown));
  }
  job.step(1, RegionFind{BlockId{4}, WaiterId{3}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[3].value, kHomeNowhere);
}

TEST(RegionTableTest, ABlockOfARegionThatIsNotKnownHereIsAskedForOnce) {
  TestJob job(4);
  job.step(0, request(8, 1, 0, Homes::kCyclic));
  job.step(2, RegionFind{BlockId{5}, WaiterId{2}});
  EXPECT_EQ(job.messages.size(), 1u);
  job.deliver_all();
  EXPECT_EQ(home_found(job.resumed[2].value), 1u);  // 5 modulo 4
  job.step(2, RegionFind{BlockId{6}, WaiterId{3}});
  EXPECT_TRUE(job.messages.empty());
  EXPECT_EQ(home_found(job.resumed[3].value), 2u);
}

TEST(RegionTableTest, PoliciesGiveEveryBlockAHome) {
  const std::uint32_t clusters[] = {0, 1, 0, 1};
  Clusters four(4, nullptr, clusters), two(2, nullptr, nullptr);
  Region region{RegionId{1}, {100, 10}, 0, {.homes = Homes::kBlock}, {}};
  EXPECT_EQ(home_of(region, 100, four), 0u);
  EXPECT_EQ(home_of(region, 109, four), 3u);
  region.policy.homes = Homes::kCyclic;
  EXPECT_EQ(home_of(region, 105, four), 1u);
  region.policy = {.homes = Homes::kBlockCyclic, .argument = 4};
  EXPECT_EQ(home_of(region, 103, two), 0u);
  EXPECT_EQ(home_of(region, 104, two), 1u);
  EXPECT_EQ(home_of(region, 109, two), 0u);
  region.policy = {.homes = Homes::kExplicit, .argument = 3};
  EXPECT_EQ(home_of(region, 105, four), 3u);
  region.policy = {.homes = Homes::kCluster, .argument = 1};
  EXPECT_EQ(home_of(region, 100, four), 1u);
  EXPECT_EQ(home_of(region, 104, four), 1u);
  EXPECT_EQ(home_of(region, 105, four), 3u);
  EXPECT_EQ(home_of(region, 109, four), 3u);
  EXPECT_TRUE(wire::is_valid(region.policy, 4, 2));
  EXPECT_FALSE(wire::is_valid(region.policy, 4, 1));
  region.policy = {};
  EXPECT_EQ(home_of(region, 105, four), kHomeFirstTouch);
  region.policy = {.argument = 2};
  EXPECT_EQ(home_of(region, 105, four), kHomeFirstTouch | 2);
  EXPECT_TRUE(wire::is_valid(region.policy, 4, 2));
  EXPECT_FALSE(wire::is_valid(region.policy, 4, 1));
  region.policy = {.protocol = Protocol::kSc};
  EXPECT_EQ(home_of(region, 150, four), 2u) << "the directory's node";
  region.policy.argument = 2;
  EXPECT_EQ(home_of(region, 150, four), 1u);
}

TEST(RegionTableTest, TheDirectoryLiesInTheClusterThatAllocates) {
  const std::uint32_t clusters[] = {0, 1, 1, 0};
  TestJob job(4, 1024, 4, ~0ull, nullptr, clusters);
  Clusters four(4, nullptr, clusters);
  job.step(2, request(640, 1));
  job.deliver_all();
  std::uint64_t first = reply_of(job, 1).first;
  for (std::uint32_t n = 0; n < 4; ++n) {
    for (std::uint64_t block = first; block < first + 640; block += kDirectoryRun) {
      job.step(n, RegionFind{BlockId{block}, WaiterId{7}});
      job.deliver_all();
      std::uint64_t home = home_found(job.resumed.at(7).value);
      ASSERT_TRUE(is_first_touch(home));
      EXPECT_EQ(four.of(directory_of(block, four, directory_found(home))), 1u);
    }
  }
  for (std::uint32_t n = 0; n < 4; ++n) job.step(n, request(128, 10 + n, 1));
  job.deliver_all();
  std::uint64_t shared = reply_of(job, 10).first;
  job.step(3, RegionFind{BlockId{shared}, WaiterId{7}});
  job.deliver_all();
  EXPECT_EQ(home_found(job.resumed.at(7).value), kHomeFirstTouch) << "all nodes keep it";
}

TEST(RegionTableTest, AFoundBlockTellsHowManyBehindItHaveTheSameHome) {
  const std::uint32_t clusters[] = {0, 1, 0, 1};
  Clusters four(4, nullptr, clusters);
  for (Homes homes : {Homes::kBlock, Homes::kCyclic, Homes::kBlockCyclic, Homes::kExplicit,
                      Homes::kCluster, Homes::kFirstTouch}) {
    for (std::uint64_t blocks : {1, 9, 10, 40}) {
      std::uint32_t argument = homes == Homes::kBlockCyclic ? 3 : 1;
      Region region{RegionId{1}, {100, blocks}, 0, {.homes = homes, .argument = argument}, {}};
      for (std::uint64_t b = 100; b < region.blocks.end(); ++b) {
        std::uint64_t same = 0;
        while (b + same < region.blocks.end() &&
               home_of(region, b + same, four) == home_of(region, b, four))
          ++same;
        if (homes == Homes::kFirstTouch) same = 0;  // the answer says nothing: ask the directory
        EXPECT_EQ(together_found(found(region, b, four)), same) << b << " of " << blocks;
        EXPECT_EQ(home_found(found(region, b, four)), home_of(region, b, four));
      }
    }
  }
}

TEST(RegionTableTest, RequestsToANodeThatDoesNotServeAreRefused) {
  TestJob job(3);
  std::vector<std::byte> bytes;
  wire::RegionFind find;
  find.block = 0;
  wire::put(bytes, find);
  job.step(1, Received{NodeId{2}, bytes});
  EXPECT_EQ(job.malformed, 1);
  bytes.pop_back();
  job.step(0, Received{NodeId{2}, bytes});
  EXPECT_EQ(job.malformed, 2) << "too short";
  job.step(0, Received{NodeId{2}, {}});
  EXPECT_EQ(job.malformed, 3) << "empty";
}

// Node 1 has asked node 0, as waiter 1, for the home of block 3.
class HostileServerTest : public testing::Test {
 protected:
  void SetUp() override { job_.step(1, RegionFind{BlockId{3}, WaiterId{1}}); }
  void expect_refused(const wire::RegionReply& reply) {
    std::vector<std::byte> bytes;
    wire::put(bytes, reply);
    int before = job_.malformed;
    job_.step(1, Received{NodeId{0}, bytes});
    EXPECT_EQ(job_.malformed, before + 1);
    EXPECT_FALSE(job_.was_resumed(1));
  }
  static wire::RegionReply good() {
    wire::RegionReply reply;
    reply.waiter = 1;
    reply.blocks = 10;
    reply.region = 4;
    return reply;
  }

  TestJob job_{2, 64};
};

TEST_F(HostileServerTest, AnswersThatNoServerGivesAreRefused) {
  for (auto spoil :
       {+[](wire::RegionReply& r) { r.waiter = 2; },   // this waiter asked nothing
        +[](wire::RegionReply& r) { r.blocks = 0; },   // a division by it would fail
        +[](wire::RegionReply& r) { r.blocks = 65; },  // beyond the space
        +[](wire::RegionReply& r) { r.first = 4; },    // not the block asked for
        +[](wire::RegionReply& r) {
          r.policy = {.homes = Homes::kExplicit, .argument = 2};  // no such node
        },
        +[](wire::RegionReply& r) { r.policy = {.homes = Homes::kBlockCyclic}; },
        +[](wire::RegionReply& r) { r.policy.homes = static_cast<Homes>(6); },
        +[](wire::RegionReply& r) {
          r.policy = {.homes = Homes::kCluster, .argument = 1};  // no such cluster
        },
        +[](wire::RegionReply& r) { r.policy.protocol = static_cast<Protocol>(3); },
        +[](wire::RegionReply& r) { r.policy.propagation = static_cast<Propagation>(3); },
        +[](wire::RegionReply& r) { r.status = static_cast<wire::RegionStatus>(9); }}) {
    wire::RegionReply reply = good();
    spoil(reply);
    expect_refused(reply);
  }
  std::vector<std::byte> bytes;
  wire::put(bytes, good());
  job_.step(1, Received{NodeId{0}, bytes});
  EXPECT_TRUE(job_.was_resumed(1));
}

TEST_F(HostileServerTest, AnOverlapWithAKnownRegionIsRefused) {
  std::vector<std::byte> bytes;
  wire::put(bytes, good());
  job_.step(1, Received{NodeId{0}, bytes});
  job_.resumed.clear();
  job_.step(1, RegionFind{BlockId{12}, WaiterId{1}});
  for (std::uint64_t first : {5, 9}) {
    wire::RegionReply reply = good();
    reply.region = 5;
    reply.first = first;
    expect_refused(reply);
  }
}

TEST_F(HostileServerTest, AnAnswerToAnotherQuestionIsRefused) {
  std::vector<std::byte> bytes;
  wire::RegionFreed freed;
  freed.waiter = 1;
  wire::put(bytes, freed);
  job_.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job_.malformed, 1);
  job_.step(1, RegionFree{BlockId{0}, WaiterId{2}});
  wire::RegionReply reply = good();
  reply.waiter = 2;
  expect_refused(reply);
}

TEST(RegionTableTest, ANodeThatDropsTwiceIsRefused) {
  TestJob job(3);
  job.step(0, request(4, 1));
  job.step(0, RegionFree{BlockId{0}, WaiterId{2}});
  std::vector<std::byte> bytes;
  wire::RegionDrop drop;
  drop.kind = wire::Kind::kRegionDropped;
  drop.region = 1;
  wire::put(bytes, drop);
  job.step(0, Received{NodeId{2}, bytes});
  EXPECT_EQ(job.malformed, 0);
  job.step(0, Received{NodeId{2}, bytes});
  EXPECT_EQ(job.malformed, 1);
}

}  // namespace
}  // namespace terrane::protocol
