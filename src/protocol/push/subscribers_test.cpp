#include "protocol/push/subscribers.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace terrane::protocol {
namespace {

constexpr NodeId kHome{3}, kOther{4};
constexpr std::uint32_t kAfter = 10;  // subscribed from exit 11 on
constexpr std::uint32_t kMostUnused = 3;
constexpr std::uint32_t kNodes = 300;

class SubscribedRunsTest : public testing::Test {
 protected:
  SubscribedRunsTest() { expected.note(kHome, {100, 16}, kAfter); }
  SubscribedRuns expected{kMostUnused};
  using Ended = std::vector<SubscribedRuns::Ended>;
};

TEST_F(SubscribedRunsTest, CoverEveryPartOfARun) {
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 11));
  EXPECT_TRUE(expected.covers(kHome, {106, 10}, 15));
  EXPECT_TRUE(expected.covers(kHome, {100, 5}, 12));
  EXPECT_FALSE(expected.covers(kHome, {99, 3}, 12));
  EXPECT_FALSE(expected.covers(kHome, {110, 7}, 12));
  EXPECT_FALSE(expected.covers(kOther, {100, 16}, 12));
  EXPECT_FALSE(expected.covers(kHome, {100, 16}, 10));
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 1'000'000));
}

TEST_F(SubscribedRunsTest, CutARunWhereASubscriptionBeginsOrEnds) {
  EXPECT_EQ(expected.sent_together(kHome, {106, 16}, 12), 10u);
  EXPECT_EQ(expected.sent_together(kHome, {95, 16}, 12), 5u);
  EXPECT_EQ(expected.sent_together(kHome, {116, 16}, 12), 16u);
  EXPECT_EQ(expected.sent_together(kHome, {101, 4}, 12), 4u);
  EXPECT_EQ(expected.sent_together(kOther, {95, 16}, 12), 16u);
  EXPECT_EQ(expected.sent_together(kHome, {95, 16}, 10), 16u);
}

TEST_F(SubscribedRunsTest, LetWhatIsAskedForTakeInWholeRunsAlone) {
  EXPECT_EQ(expected.sent_together(kHome, {95, 21}, 12), 21u);
  EXPECT_EQ(expected.sent_together(kHome, {95, 20}, 12), 5u);
}

TEST_F(SubscribedRunsTest, EndRunsWithinTheSubscribedOne) {
  expected.note(kHome, {116, 4}, kAfter);
  expected.note(kOther, {100, 16}, kAfter);
  expected.note(kHome, {98, 18}, 12);  // from exit 13 on
  EXPECT_EQ(expected.sent_together(kHome, {100, 20}, 12), 16u);
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 12));
  EXPECT_FALSE(expected.covers(kHome, {98, 18}, 12));
  EXPECT_TRUE(expected.covers(kHome, {98, 18}, 17));
  EXPECT_TRUE(expected.covers(kHome, {116, 4}, 15));
  EXPECT_TRUE(expected.covers(kOther, {100, 16}, 15));
}

TEST_F(SubscribedRunsTest, EndAfterSomeUnusedExits) {
  expected.note(kOther, {100, 16}, kAfter);
  std::uint32_t number = kAfter;
  expected.end_exit(number);  // nothing was due yet
  for (int times = 0; times < 10; ++times) {
    expected.use(kHome, {104, 2});
    expected.end_exit(++number);
    EXPECT_EQ(expected.covers(kOther, {100, 16}, number + 1), times < 3);
  }
  EXPECT_EQ(expected.take_ended(), (Ended{{kOther, {100, 16}}}));
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, number + 1));
  EXPECT_FALSE(expected.covers(kOther, {100, 16}, number + 1));
  for (std::uint32_t i = 0; i < kMostUnused; ++i) expected.end_exit(++number);
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(expected.take_ended(), (Ended{{kHome, {100, 16}}}));
}

TEST_F(SubscribedRunsTest, KnowWhetherAnythingMayCome) {
  EXPECT_FALSE(SubscribedRuns(kMostUnused).may_have_come());
  expected.give_up(kHome, {100, 16});
  EXPECT_TRUE(expected.empty());
  EXPECT_TRUE(expected.may_have_come()) << "the home may not know";
}

TEST_F(SubscribedRunsTest, ForgetWhatAHomeCannotSendAnyMoreAndLetItKnow) {
  expected.note(kHome, {200, 4}, kAfter);
  expected.give_up(kHome, {104, 2});
  EXPECT_FALSE(expected.covers(kHome, {100, 4}, 12));
  EXPECT_TRUE(expected.covers(kHome, {200, 4}, 12));
  EXPECT_EQ(expected.take_ended(), (Ended{{kHome, {100, 16}}}));
  EXPECT_EQ(expected.take_ended(), Ended{});
}

TEST_F(SubscribedRunsTest, EndWithARunTheSubscriptionsWithinIt) {
  expected.note(kHome, {120, 4}, kAfter);
  expected.note(kHome, {122, 2}, kAfter);  // perhaps before the longer one, which has ended it then
  EXPECT_FALSE(expected.ends(kHome, {122, 2}));
  expected.refuse(kHome, {120, 4});
  EXPECT_FALSE(expected.covers(kHome, {122, 2}, 13));
  EXPECT_TRUE(expected.ends(kHome, {122, 2}));
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 13));
  EXPECT_EQ(expected.take_ended(), Ended({{kHome, {120, 4}}, {kHome, {122, 2}}}));
}

TEST_F(SubscribedRunsTest, KeepALongerRunWhereAPartOfItIsRefused) {
  EXPECT_TRUE(expected.comes_within(kHome, {102, 4}));
  EXPECT_FALSE(expected.comes_within(kHome, {100, 16}));
  EXPECT_FALSE(expected.comes_within(kOther, {102, 4}));
  expected.refuse(kHome, {102, 4});
  EXPECT_TRUE(expected.covers(kHome, {102, 4}, 13));
  EXPECT_EQ(expected.take_ended(), Ended({{kHome, {102, 4}}}));
}

TEST(MissSubscriptionsTest, StandWhereNothingHasEndedSinceTheyWereAskedFor) {
  MissSubscriptions subscribers;
  auto first = subscribers.reserve();
  auto second = subscribers.reserve();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(subscribers.take());
  subscribers.fill(*second, {.home = kHome, .run = {7, 2}, .after = kAfter, .predicted = true});
  auto made = subscribers.take();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->home, kHome);
  EXPECT_EQ(made->run, BlockRange({7, 2}));
  EXPECT_EQ(made->after, kAfter);
  EXPECT_TRUE(made->predicted);
  EXPECT_TRUE(made->is_valid);
  EXPECT_FALSE(subscribers.take());
  subscribers.ending(true);
  EXPECT_FALSE(subscribers.reserve());
  subscribers.ending(false);
  subscribers.fill(*first, {.home = kHome, .run = {7, 2}, .after = kAfter});
  made = subscribers.take();
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->is_valid);
}

TEST(MissSubscriptionsTest, AreNoMoreThanThereArePlaces) {
  MissSubscriptions subscribers;
  std::size_t places = 0;
  while (subscribers.reserve()) ++places;
  EXPECT_GE(places, 16u);
  subscribers.release(places / 2);
  EXPECT_EQ(subscribers.reserve(), places / 2);
}

class SubscribersTest : public testing::Test {
 protected:
  // What is due at the barrier exit, and to which reader.
  std::vector<Subscribed> due(std::uint32_t number) { return subscribers.due(number); }
  void depart(std::uint32_t number) {
    subscribers.begin_exit(number);
    subscribers.keep();
  }
  using Due = std::vector<Subscribed>;

  Subscribers subscribers{true, kNodes};
};

TEST_F(SubscribersTest, AreDueFromTheNextExitOnUntilTheirReaderEndsThem) {
  depart(1);
  EXPECT_EQ(subscribers.make(kOther, {100, 16}), 1u + 1);
  EXPECT_EQ(subscribers.make(kHome, {100, 16}), 1u + 1);
  EXPECT_EQ(due(2).size(), 2u);
  EXPECT_EQ(due(1'000'000).size(), 2u);
  subscribers.end(kOther, {100, 15});  // another run
  subscribers.end(kHome, {100, 16});
  EXPECT_EQ(due(2), (Due{{{100, 16}, kOther}}));
  depart(2);
  EXPECT_EQ(subscribers.make(kHome, {100, 16}), 2u + 1);
  EXPECT_EQ(due(3).size(), 2u);
}

TEST_F(SubscribersTest, ALongerRunEndsThoseWithinIt) {
  depart(1);
  subscribers.make(kOther, {100, 2});
  subscribers.make(kOther, {102, 2});
  subscribers.make(kOther, {104, 4});
  subscribers.make(kHome, {100, 2});
  depart(2);
  EXPECT_EQ(subscribers.make(kOther, {100, 5}), 2u + 1);
  // Barrier exit 2 may still be under way.
  EXPECT_EQ(due(2).size(), 5u);
  EXPECT_EQ(due(3), (Due{{{100, 2}, kHome}, {{100, 5}, kOther}, {{104, 4}, kOther}}));
}

TEST_F(SubscribersTest, AreDueByBlockAndByReader) {
  for (std::uint32_t reader : {9, 5, 7}) {
    subscribers.make(NodeId{reader}, {200, reader == 7 ? 2u : 1u});
    subscribers.make(NodeId{reader}, {100, 2});
  }
  EXPECT_EQ(due(1), (Due{{{100, 2}, NodeId{5}},
                         {{100, 2}, NodeId{7}},
                         {{100, 2}, NodeId{9}},
                         {{200, 1}, NodeId{5}},
                         {{200, 1}, NodeId{9}},
                         {{200, 2}, NodeId{7}}}));
  EXPECT_EQ(subscribers.due_next().size(), 6u);
}

TEST_F(SubscribersTest, AreMadeToAllNodesForSomeRuns) {
  std::size_t made = 0;
  for (std::uint32_t run = 0; run < 2 * kRunsSubscribed; ++run)
    for (std::uint32_t reader = 0; reader < kNodes; ++reader)
      made += subscribers.make(NodeId{reader}, {100 + run, 1}) != 0;
  EXPECT_GE(made, kRunsSubscribed * kNodes);
  EXPECT_LT(made, 2 * kRunsSubscribed * kNodes);
  Due all = due(1);
  ASSERT_EQ(all.size(), made);
  for (std::size_t i = 0; i < made; ++i) {
    EXPECT_EQ(all[i].run.first, 100 + i / kNodes);
    EXPECT_EQ(all[i].reader.value, i % kNodes);
  }
  EXPECT_EQ(subscribers.make(kOther, {500, 1}), 0u);
  subscribers.end(kOther, {100, 1});
  depart(1);
  EXPECT_NE(subscribers.make(kOther, {500, 1}), 0u) << "what is over is free again";
  EXPECT_EQ(due(2).size(), made);
}

class PushBoxTest : public testing::Test {
 protected:
  // The first byte of each block that was staged, in order.
  std::optional<TakenPush> take(BlockRange part, std::uint32_t number = 12) {
    staged.clear();
    return box.take(kHome, part, number, 8, versions, [&](std::uint64_t, const std::byte* bytes) {
      staged.push_back(std::to_integer<int>(*bytes));
    });
  }
  // Blocks of 8 bytes, whose bytes and versions are their numbers; same: a bit for each.
  void put(BlockRange run, std::uint32_t same = 0, std::uint32_t tracked = 0) {
    PushBox::Push push{.from = kHome, .number = 12, .run = run, .tracked = tracked, .same = same};
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      push.versions.push_back(static_cast<std::uint32_t>(b));
      if (!(same >> (b - run.first) & 1)) push.bytes.insert(push.bytes.end(), 8, std::byte(b));
    }
    ASSERT_TRUE(box.put(push));
  }

  PushBox box;
  std::vector<std::uint32_t> versions;
  std::vector<int> staged;
};

TEST_F(PushBoxTest, GivesThemInAnyOrder) {
  for (std::uint64_t first : {100, 104, 108}) put({first, 4});
  for (int first : {104, 104, 100, 108, 100}) {
    ASSERT_TRUE(take({static_cast<std::uint64_t>(first), 2}));
    EXPECT_EQ(staged, (std::vector{first, first + 1}));
  }
  box.forget(12);
  EXPECT_FALSE(take({108, 4}));
}

TEST_F(PushBoxTest, GivesThePartOfARunThatIsAskedFor) {
  put({100, 4}, 0b0010, 0b1010);
  EXPECT_FALSE(take({102, 3}));
  EXPECT_FALSE(take({102, 2}, 13));
  auto taken = take({101, 3});
  ASSERT_TRUE(taken);
  EXPECT_EQ(staged, (std::vector{102, 103})) << "behind one that was left out";
  EXPECT_EQ(versions, (std::vector<std::uint32_t>{101, 102, 103}));
  EXPECT_EQ(taken->same, 0b001u);
  EXPECT_EQ(taken->tracked, 0b101u);
}

TEST_F(PushBoxTest, JoinsWhatSeveralPushesContain) {
  put({104, 4}, 0b0001, 0b0010);
  put({100, 4}, 0b1000, 0b0100);
  EXPECT_FALSE(take({101, 8})) << "the last one is not here yet";
  put({108, 1});
  auto taken = take({101, 8});
  ASSERT_TRUE(taken);
  EXPECT_EQ(staged, (std::vector{101, 102, 105, 106, 107, 108}));
  EXPECT_EQ(versions, (std::vector<std::uint32_t>{101, 102, 103, 104, 105, 106, 107, 108}));
  EXPECT_EQ(taken->same, 0b00001100u);
  EXPECT_EQ(taken->tracked, 0b00010010u);
  ASSERT_TRUE(box.put({.from = kHome, .number = 12, .run = {109, 2}, .gone = true}));
  taken = take({108, 2});
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->gone) << "the home has to be asked for all of it";
}

}  // namespace
}  // namespace terrane::protocol
