#include "protocol/sc/machine.h"

#include <gtest/gtest.h>

#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr std::uint64_t kFirst = 512;  // of the blocks with sequential consistency
constexpr NodeId kHome{0};

class ScMachineTest : public testing::Test {
 protected:
  // A fault up to its grant. Result: 0, or the access that the thread has to install now.
  std::uint64_t ask(std::uint32_t node, Access access, std::uint32_t waiter) {
    job.resumed.erase(waiter);
    job.step(node, ScAsk{kBlock, access, kHome, WaiterId{waiter}});
    return job.resumed[waiter].value;
  }
  void install(std::uint32_t node) { job.step(node, ScInstalled{kBlock}); }
  void await(std::uint32_t node, std::uint32_t waiter) {
    job.resumed.erase(waiter);
    job.step(node, ScAwait{kBlock, WaiterId{waiter}});
  }
  // A node gets the page; no other node excludes it.
  void take(std::uint32_t node, Access access) {
    if (ask(node, access, 90) == 0) {
      await(node, 90);
      job.deliver_all();
      ASSERT_TRUE(job.was_resumed(90));
      ASSERT_EQ(ask(node, access, 90), static_cast<std::uint64_t>(access));
    }
    install(node);
  }
  // The node carries out the oldest recall.
  void yield(std::uint32_t node, bool wrote) {
    ASSERT_FALSE(job.recalls.empty());
    auto [at, recall] = job.recalls.front();
    job.recalls.erase(job.recalls.begin());
    ASSERT_EQ(at, node);
    job.step(node, ScYielded{recall.block, recall.home, wrote, recall.keeps_copy});
  }
  // Without a recall.
  void give_back(std::uint32_t node, bool wrote) {
    job.step(node, ScYielded{kBlock, kHome, wrote, false, false});
  }
  bool may_give_back(std::uint32_t node) {
    job.step(node, ScGiveBack{kBlock, false, WaiterId{91}});
    return job.resumed[91].value != 0;
  }
  void send(std::uint32_t from, const wire::ScMessage& message) {
    std::vector<std::byte> bytes;
    wire::put(bytes, message);
    job.step(0, Received{NodeId{from}, bytes});
  }

  static constexpr BlockId kBlock{kFirst + 1};
  TestJob job{12, 1024, 2, kFirst};
};

TEST_F(ScMachineTest, AHomeGrantsItselfWithoutAMessage) {
  EXPECT_EQ(ask(0, Access::kWrite, 1), static_cast<std::uint64_t>(Access::kWrite));
  EXPECT_TRUE(job.messages.empty());
}

TEST_F(ScMachineTest, AWriterIsRecalledForAReaderAndKeepsACopy) {
  take(1, Access::kWrite);
  EXPECT_EQ(ask(2, Access::kRead, 1), 0u);
  await(2, 1);
  job.deliver_all();
  ASSERT_EQ(job.recalls.size(), 1u);
  EXPECT_TRUE(job.recalls[0].second.keeps_copy);
  EXPECT_FALSE(job.was_resumed(1));
  yield(1, true);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_TRUE(job.core(0).sc().may_hold(NodeId{1}, kBlock.value, Access::kRead));
  EXPECT_FALSE(job.core(0).sc().may_hold(NodeId{1}, kBlock.value, Access::kWrite));
}

TEST_F(ScMachineTest, AllReadersYieldBeforeOneWrites) {
  for (std::uint32_t node : {1, 2, 3}) take(node, Access::kRead);
  EXPECT_EQ(ask(2, Access::kWrite, 1), 0u);
  await(2, 1);
  job.deliver_all();
  yield(1, false);
  job.deliver_all();
  EXPECT_FALSE(job.was_resumed(1));
  yield(3, false);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_TRUE(job.recalls.empty()) << "who is to write keeps what it reads";
}

TEST_F(ScMachineTest, WhereReadersAreTooManyToBeNamedAllNodesAreAsked) {
  for (std::uint32_t node = 1; node < 11; ++node) take(node, Access::kRead);
  EXPECT_EQ(ask(11, Access::kWrite, 1), 0u);
  await(11, 1);
  job.deliver_all();
  EXPECT_EQ(job.recalls.size(), 11u);
  while (!job.recalls.empty()) yield(job.recalls.front().first, false);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(1));
}

TEST_F(ScMachineTest, ARecallWaitsUntilWhatWasGrantedIsInstalled) {
  EXPECT_EQ(ask(1, Access::kWrite, 1), 0u);
  await(1, 1);
  EXPECT_EQ(ask(2, Access::kWrite, 2), 0u);
  job.deliver_all();
  EXPECT_TRUE(job.recalls.empty());
  EXPECT_EQ(ask(1, Access::kWrite, 1), static_cast<std::uint64_t>(Access::kWrite));
  EXPECT_TRUE(job.recalls.empty());
  install(1);
  EXPECT_EQ(job.recalls.size(), 1u);
}

TEST_F(ScMachineTest, RequestsAreServedInTheOrderInWhichTheyCame) {
  take(1, Access::kWrite);
  for (std::uint32_t node : {2, 3}) {
    EXPECT_EQ(ask(node, Access::kWrite, node), 0u);
    await(node, node);
    job.deliver_all();
  }
  yield(1, true);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(2));
  EXPECT_FALSE(job.was_resumed(3));
}

TEST_F(ScMachineTest, ThreadsOfANodeAskOnce) {
  EXPECT_EQ(ask(1, Access::kRead, 1), 0u);
  EXPECT_EQ(ask(1, Access::kWrite, 2), 0u);
  EXPECT_EQ(job.messages.size(), 1u);
}

TEST_F(ScMachineTest, WhoGaveAPageBackIsNotAskedForIt) {
  take(1, Access::kWrite);
  give_back(1, true);
  take(2, Access::kRead);
  take(3, Access::kRead);
  give_back(2, false);
  take(4, Access::kRead);
  EXPECT_TRUE(job.recalls.empty());
  EXPECT_EQ(ask(4, Access::kWrite, 1), 0u);
  await(4, 1);
  job.deliver_all();
  ASSERT_EQ(job.recalls.size(), 1u);
  yield(3, false);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(1));
}

TEST_F(ScMachineTest, AReturnThatCrossesARecallIsNotItsAnswer) {
  take(1, Access::kWrite);
  EXPECT_EQ(ask(2, Access::kWrite, 1), 0u);
  await(2, 1);
  job.deliver();  // to the home, which sends its recall
  give_back(1, true);
  EXPECT_EQ(ask(1, Access::kWrite, 2), 0u);
  await(1, 2);
  job.deliver_all();
  EXPECT_FALSE(job.was_resumed(1));
  yield(1, false);
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(1));
  EXPECT_FALSE(job.was_resumed(2));
}

TEST_F(ScMachineTest, WhatIsAskedForDoesNotGo) {
  EXPECT_TRUE(may_give_back(1));
  EXPECT_EQ(ask(1, Access::kWrite, 1), 0u);
  EXPECT_FALSE(may_give_back(1));
  await(1, 1);
  job.deliver_all();
  EXPECT_FALSE(may_give_back(1)) << "granted, and not installed";
  EXPECT_EQ(ask(1, Access::kWrite, 1), static_cast<std::uint64_t>(Access::kWrite));
  install(1);
  EXPECT_TRUE(may_give_back(1));
}

TEST_F(ScMachineTest, MalformedMessagesAreRefused) {
  using wire::Kind;
  for (const wire::ScMessage& message : {
           wire::ScMessage{.kind = Kind::kScRequest, .access = 1, .block = kFirst - 1},  // not ours
           wire::ScMessage{.kind = Kind::kScRequest, .access = 0, .block = kBlock.value},
           wire::ScMessage{.kind = Kind::kScRequest, .access = 3, .block = kBlock.value},
           wire::ScMessage{
               .kind = Kind::kScRequest, .access = 1, .carries = 1, .block = kBlock.value},
           wire::ScMessage{.kind = Kind::kScGrant, .access = 1, .block = kBlock.value},  // unasked
           wire::ScMessage{.kind = Kind::kScRecall, .access = 2, .block = kBlock.value},
           wire::ScMessage{.kind = Kind::kScYielded, .wrote = 2, .block = kBlock.value},
           wire::ScMessage{.kind = Kind::kScReturned, .access = 1, .block = kBlock.value},
       }) {
    int before = job.malformed;
    send(1, message);
    EXPECT_EQ(job.malformed, before + 1) << static_cast<int>(message.kind);
  }
  wire::ScMessage twice{.kind = Kind::kScRequest, .access = 2, .block = kBlock.value};
  take(2, Access::kWrite);
  int before = job.malformed;
  send(1, twice);
  EXPECT_EQ(job.malformed, before);
  send(1, twice);
  EXPECT_EQ(job.malformed, before + 1);
}

// Blocks before those of regions with sequential consistency.
class SynchronisationPageTest : public testing::Test {
 protected:
  void serve_everywhere() {
    for (std::uint32_t n = 0; n < 3; ++n) job.step(n, ScServe{kPage, kHome});
  }
  // Result: the answer to a thread that has the grant; 0: it has not come.
  std::uint64_t ask(std::uint32_t node) {
    for (int i = 0; i < 2; ++i) {
      job.step(node, ScAsk{kPage, Access::kWrite, kHome, kThread});
      if (job.resumed[kThread.value].value != 0) break;
      job.deliver_all();
    }
    return job.resumed[kThread.value].value;
  }
  void yield(std::uint32_t node) {
    ASSERT_EQ(job.recalls.size(), 1u);
    Recall recall = job.recalls.front().second;
    job.recalls.clear();
    EXPECT_TRUE(recall.releases);
    job.step(node, ScYielded{recall.block, recall.home, true, false});
    job.deliver_all();
  }
  void close_interval(std::uint32_t node) {
    std::vector<BlockRange> ranges{{40, 1}};
    job.step(node, CloseInterval{&ranges});
  }
  bool is_refused(std::uint32_t to, const wire::ScMessage& message, std::size_t tail) {
    std::vector<std::byte> bytes;
    wire::put(bytes, message);
    bytes.resize(bytes.size() + tail);
    int before = job.malformed;
    job.step(to, Received{NodeId{1}, bytes});
    return job.malformed > before;
  }

  static constexpr BlockId kPage{7};
  static constexpr WaiterId kThread{4};
  static constexpr std::size_t kStamp = 3 * sizeof(std::uint32_t);
  TestJob job{3, 1024, 2, kFirst};
};

TEST_F(SynchronisationPageTest, TheHomeGrantsNothingBeforeThePageIsReady) {
  serve_everywhere();
  EXPECT_EQ(ask(1), 0u);
  job.step(2, ScReady{kPage, kHome});
  job.deliver_all();
  EXPECT_EQ(ask(1) & 3, static_cast<std::uint64_t>(Access::kWrite));
}

TEST_F(SynchronisationPageTest, AHolderAcquiresFromTheLastWriter) {
  serve_everywhere();
  job.step(1, ScReady{kPage, kHome});
  job.deliver_all();
  EXPECT_EQ(ask(1), static_cast<std::uint64_t>(Access::kWrite)) << "its own stores";
  job.step(1, ScInstalled{kPage});
  job.step(2, ScAsk{kPage, Access::kWrite, kHome, kThread});
  job.deliver_all();
  close_interval(1);  // the release that goes with the yield
  yield(1);
  std::uint64_t answer = ask(2);
  EXPECT_NE(answer & kAcquires, 0u);
  EXPECT_EQ(acquired_from(answer), NodeId{1});
}

TEST_F(SynchronisationPageTest, AHolderThatKnowsAllNoticesAsksNobody) {
  serve_everywhere();
  job.step(1, ScReady{kPage, kHome});
  job.deliver_all();
  std::uint64_t answer = ask(2);
  EXPECT_NE(answer & kAcquires, 0u) << "leases die";
  EXPECT_EQ(acquired_from(answer), NodeId{2});
}

TEST_F(SynchronisationPageTest, MalformedMessagesAreRefused) {
  using wire::Kind;
  wire::ScMessage ready{.kind = Kind::kScReady, .writer = 2, .block = kPage.value};
  EXPECT_TRUE(is_refused(0, ready, kStamp)) << "no such page";
  serve_everywhere();
  EXPECT_TRUE(is_refused(0, ready, kStamp - 1));
  EXPECT_TRUE(is_refused(0, ready, kStamp + 1));
  EXPECT_TRUE(is_refused(2, ready, kStamp)) << "not the home";
  wire::ScMessage nobody = ready;
  nobody.writer = 4;
  EXPECT_TRUE(is_refused(0, nobody, kStamp));
  nobody.writer = 0;
  EXPECT_TRUE(is_refused(0, nobody, 0));
  wire::ScMessage request{.kind = Kind::kScRequest, .access = 2, .writer = 2, .block = kPage.value};
  EXPECT_TRUE(is_refused(0, request, kStamp)) << "a request has no stamp";
  wire::ScMessage region{.kind = Kind::kScYielded, .wrote = 1, .writer = 2, .block = kFirst + 1};
  EXPECT_TRUE(is_refused(0, region, kStamp)) << "of a region";
  EXPECT_FALSE(is_refused(0, ready, kStamp));
}

}  // namespace
}  // namespace terrane::protocol
