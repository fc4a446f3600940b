#include "protocol/core/notice_requests.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr WaiterId kWaiter{3};

class NoticeRequestsTest : public testing::Test {
 protected:
  void close_interval(std::uint32_t node, BlockRange changed) {
    std::vector<BlockRange> ranges{changed};
    job.step(node, CloseInterval{&ranges});
  }
  void learn(std::uint32_t node, std::uint32_t from) {
    job.step(node, AskNotices{NodeId{from}, kWaiter});
    job.deliver_all();
    ASSERT_TRUE(job.was_resumed(kWaiter.value));
    job.step(node, Learn{job.resumed[kWaiter.value].payload, false});
  }
  bool is_refused(std::uint32_t from, const std::vector<std::byte>& message) {
    int before = job.malformed;
    job.step(0, Received{NodeId{from}, message});
    return job.malformed > before;
  }

  TestJob job{3};
};

TEST_F(NoticeRequestsTest, TheAnswerHasWhatTheNodeKnowsAlsoOfOthers) {
  close_interval(0, {8, 2});
  close_interval(1, {40, 1});
  learn(1, 0);
  job.resumed.clear();
  learn(2, 1);
  EXPECT_EQ(job.core(2).timestamp(), (VectorTimestamp{1, 1, 0}));
  std::vector<BlockRange> named;
  wire::NoticeReader reader(job.resumed[kWaiter.value].payload);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry))
    while (reader.next_record(record))
      while (reader.next_range(range)) named.push_back(range);
  EXPECT_EQ(named, (std::vector<BlockRange>{{8, 2}, {40, 1}}));
}

TEST_F(NoticeRequestsTest, WhatTheAskingNodeKnowsIsLeftOut) {
  close_interval(0, {8, 2});
  learn(1, 0);
  job.resumed.clear();
  learn(1, 0);
  EXPECT_TRUE(job.resumed[kWaiter.value].payload.empty());
}

TEST_F(NoticeRequestsTest, WhatNobodyAskedForOrIsCutIsMalformed) {
  std::vector<std::byte> request, reply;
  wire::put(request, wire::NoticeRequest{.waiter = 1});
  EXPECT_TRUE(is_refused(1, request)) << "without a timestamp";
  request.resize(request.size() + 3 * sizeof(std::uint32_t));
  EXPECT_FALSE(is_refused(1, request));
  wire::put(reply, wire::NoticeReply{.waiter = kWaiter.value});
  EXPECT_TRUE(is_refused(1, reply)) << "unasked";
  job.step(0, AskNotices{NodeId{1}, kWaiter});
  EXPECT_TRUE(is_refused(2, reply)) << "of another node";
  std::vector<std::byte> cut = reply;
  cut.resize(cut.size() + 3);
  EXPECT_TRUE(is_refused(1, cut));
  EXPECT_FALSE(is_refused(1, reply));
}

}  // namespace
}  // namespace terrane::protocol
