#include "protocol/region_table.h"

#include <gtest/gtest.h>

#include "protocol/test_job.h"

namespace terrane::protocol {
namespace {

RegionAllocate request(std::uint64_t blocks, std::uint32_t waiter, std::uint32_t sequence = 0,
                       Homes homes = Homes::kFirstTouch) {
  RegionAllocate allocate{};
  allocate.blocks = blocks;
  allocate.bytes = blocks * 4096;
  allocate.homes = homes;
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

void drop_all(TestJob& job) {
  auto drops = std::move(job.drops);
  job.drops.clear();
  for (auto& [node, drop] : drops) job.step(node, RegionDropped{drop.region, drop.blocks});
  job.deliver_all();
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
  for (std::uint32_t n = 0; n < 3; ++n) job.step(n, request(10, n, 1));
  job.deliver_all();
  for (std::uint32_t n = 0; n < 3; ++n) EXPECT_EQ(reply_of(job, n).first, 0u);
  job.step(1, request(11, 9, 1));
  job.deliver_all();
  EXPECT_EQ(reply_of(job, 9).status, wire::RegionStatus::kMismatch);
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
  EXPECT_EQ(job.resumed[2].value, 1u);  // 5 modulo 4
  job.step(2, RegionFind{BlockId{6}, WaiterId{3}});
  EXPECT_TRUE(job.messages.empty());
  EXPECT_EQ(job.resumed[3].value, 2u);
}

TEST(RegionTableTest, PoliciesGiveEveryBlockAHome) {
  Region region{RegionId{1}, {100, 10}, 0, Homes::kBlock, NodeId{3}, {}};
  EXPECT_EQ(home_of(region, 100, 4), 0u);
  EXPECT_EQ(home_of(region, 109, 4), 3u);
  region.homes = Homes::kCyclic;
  EXPECT_EQ(home_of(region, 105, 4), 1u);
  region.homes = Homes::kExplicit;
  EXPECT_EQ(home_of(region, 105, 4), 3u);
  region.homes = Homes::kFirstTouch;
  EXPECT_EQ(home_of(region, 105, 4), kHomeFirstTouch);
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

}  // namespace
}  // namespace terrane::protocol
