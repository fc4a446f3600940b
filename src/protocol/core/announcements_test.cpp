#include "protocol/core/announcements.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr WaiterId kWaiter{3}, kSibling{4};

class AnnouncementsTest : public testing::Test {
 protected:
  explicit AnnouncementsTest(std::uint32_t nodes = 3) : job(nodes) {}

  void close_interval(std::uint32_t node, BlockRange changed) {
    std::vector<BlockRange> ranges{changed};
    job.step(node, CloseInterval{&ranges});
  }
  // Whether announce() of the node has nothing left to do.
  bool is_announced(std::uint32_t node, WaiterId waiter = kWaiter) {
    job.resumed.clear();
    job.step(node, Announce{waiter});
    return job.was_resumed(waiter.value) && job.resumed[waiter.value].value == 0;
  }
  // Whether the node has heard something that it has not learned. Then learns it.
  bool learns(std::uint32_t node) {
    job.resumed.clear();
    job.step(node, NextAnnounced{kSibling});
    TestJob::Resumed heard = job.resumed[kSibling.value];
    if (heard.value != 0) job.step(node, Learn{heard.payload, false});
    return heard.value != 0;
  }
  bool is_refused(std::uint32_t to, std::uint32_t from, const std::vector<std::byte>& message) {
    int before = job.malformed;
    job.step(to, Received{NodeId{from}, message});
    return job.malformed > before;
  }
  std::uint32_t known(std::uint32_t node, std::uint32_t of) {
    return job.core(node).timestamp()[of];
  }
  bool is_quiet(std::uint32_t node) { return job.core(node).announcements().is_quiet(); }

  TestJob job;
};

class TwoNodesTest : public AnnouncementsTest {
 protected:
  TwoNodesTest() : AnnouncementsTest(2) {}
};

TEST_F(AnnouncementsTest, AFenceEndsWhenAllNodesHaveHeard) {
  EXPECT_TRUE(is_announced(0)) << "nothing was written";
  close_interval(0, {8, 2});
  EXPECT_FALSE(is_announced(0));
  EXPECT_FALSE(job.was_resumed(kWaiter.value)) << "nobody has heard";
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(kWaiter.value));
  EXPECT_TRUE(is_announced(0));
  EXPECT_TRUE(job.messages.empty());
}

TEST_F(AnnouncementsTest, WhatWasHeardIsThereUntilItIsLearned) {
  close_interval(0, {8, 2});
  is_announced(0);
  job.deliver_all();
  job.step(1, NextAnnounced{kWaiter});
  EXPECT_EQ(job.resumed[kWaiter.value].value, 1u);
  EXPECT_TRUE(learns(1)) << "another thread finds it as well";
  EXPECT_EQ(known(1, 0), 1u);
  EXPECT_FALSE(learns(1));
  EXPECT_TRUE(is_announced(1)) << "all know it from node 0";
}

TEST_F(AnnouncementsTest, WhatALockHasBroughtIsNotHeardAgain) {
  close_interval(0, {8, 2});
  is_announced(0);
  job.deliver_all();
  job.resumed.clear();
  job.step(1, AskNotices{NodeId{0}, kWaiter});
  job.deliver_all();
  job.step(1, Learn{job.resumed[kWaiter.value].payload, false});
  EXPECT_FALSE(learns(1));
}

TEST_F(AnnouncementsTest, WhatWasLearnedOtherwiseIsAnnouncedToo) {
  close_interval(0, {8, 2});
  job.step(1, AskNotices{NodeId{0}, kWaiter});
  job.deliver_all();
  job.step(1, Learn{job.resumed[kWaiter.value].payload, false});
  EXPECT_FALSE(is_announced(1)) << "node 2 has not heard of it";
  job.deliver_all();
  EXPECT_TRUE(learns(2));
  EXPECT_EQ(known(2, 0), 1u);
}

TEST_F(AnnouncementsTest, AThirdNodeWaitsUntilAllHaveHeard) {
  close_interval(0, {8, 2});
  is_announced(0);
  // Node 1 hears, node 2 does not yet.
  ASSERT_EQ(job.messages.size(), 2u);
  TestJob::Message late = job.messages.back();
  job.messages.pop_back();
  job.deliver_all();
  EXPECT_TRUE(learns(1));
  EXPECT_FALSE(is_announced(1));
  EXPECT_TRUE(job.messages.empty()) << "node 0 tells it already";
  EXPECT_FALSE(job.was_resumed(kWaiter.value));
  job.messages.push_back(late);
  job.deliver_all();
  EXPECT_TRUE(is_announced(1));
}

TEST_F(TwoNodesTest, OfTwoNodesNobodyWaitsForAThird) {
  close_interval(0, {8, 2});
  is_announced(0);
  job.deliver_all();
  EXPECT_TRUE(learns(1));
  EXPECT_TRUE(is_announced(1));
  EXPECT_TRUE(is_quiet(1));
  close_interval(1, {40, 1});
  EXPECT_FALSE(is_quiet(1));
}

TEST_F(AnnouncementsTest, ThreadsOfANodeShareAnAnnouncement) {
  close_interval(0, {8, 2});
  is_announced(0);
  close_interval(0, {40, 1});
  EXPECT_FALSE(is_announced(0, kSibling));
  EXPECT_EQ(job.messages.size(), 2u);
  job.deliver_all();
  EXPECT_EQ(job.resumed[kSibling.value].value, 1u) << "it asks again: its interval is not told";
  EXPECT_FALSE(is_announced(0, kSibling));
  EXPECT_EQ(job.messages.size(), 2u);
  job.deliver_all();
  EXPECT_TRUE(is_announced(0));
}

TEST_F(AnnouncementsTest, AnAnswerThatNobodyAskedForIsMalformed) {
  std::vector<std::byte> answer, end, cut;
  wire::put(answer, wire::AnnounceAnswer{});
  wire::put(end, wire::AnnounceEnd{});
  wire::put(cut, wire::Announce{});
  EXPECT_TRUE(is_refused(0, 1, answer));
  EXPECT_TRUE(is_refused(0, 1, end));
  EXPECT_TRUE(is_refused(0, 1, cut));
  close_interval(0, {8, 2});
  is_announced(0);
  TestJob::Message told = job.messages.front();
  std::uint32_t to = told.to.value;
  job.messages.clear();
  EXPECT_FALSE(is_refused(to, 0, told.bytes));
  EXPECT_TRUE(is_refused(to, 0, told.bytes)) << "the first one is under way";
}

TEST_F(AnnouncementsTest, WhatDoesNotHaveAllThatItNamesIsNotLearned) {
  std::vector<std::byte> message;
  wire::put(message, wire::Announce{});
  VectorTimestamp reach{1, 0, 0};
  put_bytes(message, std::as_bytes(std::span(reach)));
  EXPECT_FALSE(is_refused(1, 0, message));
  EXPECT_FALSE(learns(1)) << "interval 1 of node 0 is not in it";
  wire::put(message, wire::NoticeEntry{.node = 0, .base = 0, .top = 1});
  EXPECT_FALSE(is_refused(2, 0, message));
  EXPECT_TRUE(learns(2));
}

// All nodes see each other's counts.
class CountedTest : public AnnouncementsTest {
 protected:
  CountedTest() {
    job = TestJob(3, 1024, 2, ~0ull, nullptr, nullptr, true);
    for (std::uint32_t n = 0; n < 3; ++n) {
      close_interval(n, {n, 1});
      is_announced(n);
      job.deliver_all();
      while (learns((n + 1) % 3)) {
      }
      while (learns((n + 2) % 3)) {
      }
    }
    job.messages.clear();
  }
  // The node counts, and tells.
  void tell(std::uint32_t node) {
    job.resumed.clear();
    job.step(node, Announce{kWaiter});
    EXPECT_EQ(job.resumed[kWaiter.value].value, Announcements::kCountFirst);
    job.step(node, Announce{kWaiter, true});
    EXPECT_EQ(job.resumed[kWaiter.value].value, 1u);
  }
  bool have_come(std::uint32_t node, std::uint32_t from, std::uint32_t count) {
    return job.core(node).announcements().have_come(NodeId{from}, count);
  }
};

TEST_F(CountedTest, AFenceEndsBeforeOthersHaveHeard) {
  close_interval(0, {8, 2});
  tell(0);
  EXPECT_TRUE(is_announced(0));
  EXPECT_EQ(job.messages.size(), 2u);
  job.deliver_all();
  EXPECT_TRUE(learns(1));
  EXPECT_TRUE(learns(2));
  EXPECT_TRUE(is_announced(1)) << "node 0 has told it to all";
}

TEST_F(CountedTest, WhoSeesACountWaitsForTheAnnouncement) {
  close_interval(0, {8, 2});
  tell(0);
  EXPECT_TRUE(have_come(1, 0, 0));
  EXPECT_FALSE(have_come(1, 0, 1));
  job.resumed.clear();
  job.step(1, AwaitAnnounced{NodeId{0}, 1, kSibling});
  EXPECT_FALSE(job.was_resumed(kSibling.value));
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(kSibling.value));
  EXPECT_TRUE(have_come(1, 0, 1));
  job.resumed.clear();
  job.step(1, AwaitAnnounced{NodeId{0}, 1, kSibling});
  EXPECT_TRUE(job.was_resumed(kSibling.value));
}

TEST_F(CountedTest, WhatAnAnnouncementLeavesOutIsLearnedFirst) {
  close_interval(0, {8, 2});
  tell(0);
  // Node 1 hears, node 2 does not yet.
  ASSERT_EQ(job.messages.size(), 2u);
  TestJob::Message late = job.messages.back();
  job.messages.pop_back();
  job.deliver_all();
  EXPECT_TRUE(learns(1));
  close_interval(1, {40, 1});
  tell(1);
  job.deliver_all();
  EXPECT_FALSE(learns(2)) << "what node 0 told is not there";
  job.messages.push_back(late);
  job.deliver_all();
  EXPECT_TRUE(learns(2));
  EXPECT_TRUE(learns(2));
  EXPECT_EQ(known(2, 0), 2u);
  EXPECT_EQ(known(2, 1), 2u);
  EXPECT_FALSE(learns(2));
}

TEST_F(AnnouncementsTest, ACountThatNobodySeesIsMalformed) {
  std::vector<std::byte> message;
  wire::put(message, wire::Announce{.counted = 1});
  VectorTimestamp reach{0, 0, 0};
  put_bytes(message, std::as_bytes(std::span(reach)));
  EXPECT_TRUE(is_refused(1, 0, message));
}

TEST_F(TwoNodesTest, WhoNeverMakesAFenceKeepsNoMoreThanALimit) {
  for (std::uint32_t i = 1; i <= 20'000; ++i) {
    std::vector<BlockRange> ranges;
    for (std::uint64_t at = 0; at < 10; ++at) ranges.push_back({at * 4 + i % 3, 1});
    job.step(0, CloseInterval{&ranges});
    is_announced(0);
    job.deliver_all();
  }
  std::uint32_t times = 0;
  std::size_t bytes = 0;
  while (learns(1)) {
    ++times;
    bytes += job.resumed[kSibling.value].payload.size();
  }
  EXPECT_EQ(known(1, 0), 20'000u);
  EXPECT_LT(bytes, std::size_t{9} << 17);
  EXPECT_LT(times, 20'000u);
}

}  // namespace
}  // namespace terrane::protocol
