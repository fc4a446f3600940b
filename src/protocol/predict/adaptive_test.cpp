#include "protocol/predict/adaptive.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace terrane::protocol {
namespace {

constexpr std::uint64_t kBlocks = 256;

class AdaptivePredictorTest : public testing::Test {
 protected:
  static Miss miss(std::uint64_t block) {
    return {.block = block,
            .access = Access::kRead,
            .reached = true,
            .adaptive = true,
            .much_room = true,
            .movable = true,
            .prefetches = true};
  }
  // A miss of the block that fetches what the plan says. Result: how many blocks that is.
  std::uint64_t take(std::uint64_t block) {
    MissPlan plan = predictor_.at_miss(miss(block));
    for (std::uint64_t b = block + 1; b < block + plan.blocks; ++b) predictor_.prefetches(b);
    for (std::uint64_t b = block; b < block + plan.blocks; ++b) predictor_.missed(b);
    predictor_.miss_ended(block, block + plan.blocks);
    return plan.blocks;
  }
  void switch_off(Heuristic heuristic) {
    Heuristics on;
    on.set(heuristic, false);
    std::destroy_at(&predictor_);
    std::construct_at(&predictor_, history_, kBlocks, Tunables{}, on);
  }

  BlockHistory history_[kBlocks];
  AdaptivePredictor predictor_{history_, kBlocks, Tunables{}, Heuristics{}};
};

TEST_F(AdaptivePredictorTest, AStreamOverALinkGetsFullRequestsAtOnceAndIsPipelined) {
  std::vector<std::uint64_t> counts;
  std::uint64_t pipelined = 0;
  for (std::uint64_t block = 10; block < 60;) {
    Miss next = miss(block);
    next.far = true;
    MissPlan plan = predictor_.at_miss(next);
    counts.push_back(plan.blocks);
    for (std::uint64_t b = block + 1; b < block + plan.blocks; ++b) predictor_.prefetches(b);
    if (pipelined == 0 && plan.blocks == 16)
      pipelined = predictor_.pipeline(next, {block, 16}, 100).requests * counts.size();
    predictor_.miss_ended(block, block + plan.blocks);
    block += plan.blocks;
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 16, 16, 16, 16}));
  EXPECT_EQ(pipelined, 3u * 3) << "from the third miss on";
}

TEST_F(AdaptivePredictorTest, ALongStreamOfAFullNodeMakesMoreRequestsInOneMiss) {
  for (std::uint64_t block = 0; block < 128; block += 16) predictor_.miss_ended(block, block + 16);
  Miss next = miss(128);
  EXPECT_EQ(predictor_.pipeline(next, {128, 16}, 4096).end, 128u + 4 * 16);
  next.little_room = true;
  PipelinePlan plan = predictor_.pipeline(next, {128, 16}, 4096);
  EXPECT_EQ(plan.requests, 3u);
  EXPECT_EQ(plan.end, 128u + 5 * 16) << "half as many pages as came so far, and a request";
}

TEST_F(AdaptivePredictorTest, AFullNodeSealsWhatItReads) {
  Miss next = miss(7);
  EXPECT_FALSE(predictor_.at_full_node().seals(next)) << "there is room for twins";
  next.little_room = true;
  EXPECT_TRUE(predictor_.at_full_node().seals(next));
  predictor_.at_full_node().stored(7);
  EXPECT_FALSE(predictor_.at_full_node().seals(next)) << "it was written before";
  next.block = 9;
  EXPECT_TRUE(predictor_.at_full_node().seals(next));
  switch_off(Heuristic::kSealReads);
  EXPECT_FALSE(predictor_.at_full_node().seals(next));
}

TEST_F(AdaptivePredictorTest, AStreamOfAFullNodePassesOverPagesThatAreHere) {
  Miss next = miss(7);
  EXPECT_EQ(predictor_.at_full_node().skips_present(next), 0u) << "there is room";
  next.little_room = true;
  EXPECT_EQ(predictor_.at_full_node().skips_present(next), 16u);
  switch_off(Heuristic::kSkipPresent);
  EXPECT_EQ(predictor_.at_full_node().skips_present(next), 0u);
}

TEST_F(AdaptivePredictorTest, AfterStoresToSealedPagesFewerAreSealed) {
  Miss next = miss(7);
  next.little_room = true;
  std::vector<int> unsealed;
  for (std::uint64_t block = 20; block < 25; ++block) {
    EXPECT_EQ(predictor_.at_full_node().unseals(block), 16u);
    int misses = 0;
    while (!predictor_.at_full_node().seals(next)) ++misses;
    unsealed.push_back(misses);
  }
  EXPECT_EQ(unsealed, (std::vector<int>{1, 2, 4, 8, 16}));
}

TEST_F(AdaptivePredictorTest, FirstWritesInOrderClaimMoreBothWays) {
  std::vector<std::uint64_t> behind, before;
  for (std::uint64_t block = 10; block < 50;) {
    ClaimPlan plan = predictor_.claims(block);
    EXPECT_EQ(plan.before, 0u);
    behind.push_back(plan.behind);
    predictor_.claimed(block, {block, plan.behind + 1});
    block += plan.behind + 1;
  }
  EXPECT_EQ(behind, (std::vector<std::uint64_t>{0, 1, 2, 3, 5, 8, 13, 20}));
  for (std::uint64_t block = 200; block > 160;) {
    ClaimPlan plan = predictor_.claims(block);
    EXPECT_EQ(plan.behind, 0u);
    before.push_back(plan.before);
    predictor_.claimed(block, {block - plan.before, plan.before + 1});
    block -= plan.before + 1;
  }
  EXPECT_EQ(before, behind);
}

TEST_F(AdaptivePredictorTest, AReaderAsksForHomesUnlessItSharesALinkToThem) {
  for (bool shared_link : {false, true}) {
    switch_off(Heuristic::kBackward);
    std::uint64_t asked = 0;
    for (std::uint64_t block = 0; block < kBlocks;) {
      Miss next = miss(block);
      next.shared_link = shared_link;
      MissPlan plan = predictor_.at_miss(next);
      asked += plan.homes;
      predictor_.miss_ended(block, block + plan.blocks);
      block += plan.blocks;
    }
    EXPECT_EQ(asked > 0, !shared_link);
  }
}

struct AllCopies final : CopiesAtAcquire {
  bool is_copy(std::uint64_t) const override { return true; }
  NodeId home(std::uint64_t) const override { return NodeId{1}; }
  bool is_reached(std::uint64_t) const override { return true; }
  bool is_pushed(std::uint64_t) const override { return false; }
};

TEST_F(AdaptivePredictorTest, MissesInOrderPrefetchAsMuchAgain) {
  EXPECT_EQ(take(10), 1u);
  EXPECT_EQ(take(11), 2u);
  EXPECT_EQ(take(13), 4u);
  EXPECT_EQ(take(17), 8u);
  EXPECT_EQ(take(25), 16u);
}

TEST_F(AdaptivePredictorTest, AStreamStopsAtTheEndOfTheSpace) {
  take(kBlocks - 4);
  EXPECT_EQ(take(kBlocks - 3), 2u);
  EXPECT_EQ(take(kBlocks - 1), 1u);
}

// Rows of eight blocks, of which four are read. Eight streams are remembered, and three that have
// ended show their length.
TEST_F(AdaptivePredictorTest, StreamsOfOneLengthComeWithTheirFirstMiss) {
  std::uint64_t row = 0;
  for (; row < 11; ++row) {
    EXPECT_EQ(take(8 * row), 1u) << row;
    EXPECT_EQ(take(8 * row + 1), 2u) << row;
    EXPECT_EQ(take(8 * row + 3), 4u) << row;
  }
  EXPECT_EQ(take(8 * row), 4u);
  EXPECT_EQ(take(8 * row + 4), 5u) << "a longer one goes on as any stream";
  std::uint32_t alone = 0;
  for (++row; row < 11 + Tunables{}.measured; ++row) alone += take(8 * row) == 1;
  EXPECT_EQ(alone, 1u) << "one in so many shows how long it is";
  switch_off(Heuristic::kRunLength);
  for (BlockHistory& past : history_) past = {};
  for (row = 0; row < 11; ++row)
    for (std::uint64_t block : {0, 1, 3}) take(8 * row + block);
  EXPECT_EQ(take(8 * row), 1u);
}

TEST_F(AdaptivePredictorTest, ARefreshOfAProbeThatNoThreadHasUsedIsKnown) {
  take(5);
  predictor_.barrier_passed();
  take(5);
  for (int round = 0; round < 200 && !predictor_.probes(5); ++round) {
    EXPECT_FALSE(predictor_.is_unused(5));
    predictor_.refreshed({5, 1}, true);
    predictor_.barrier_passed();
  }
  EXPECT_TRUE(predictor_.is_unused(5));
  predictor_.remap_count(5);
  EXPECT_FALSE(predictor_.is_unused(5));
}

TEST_F(AdaptivePredictorTest, WithoutTheHeuristicNothingIsPrefetched) {
  switch_off(Heuristic::kSequential);
  for (std::uint64_t block = 10; block < 20; ++block) EXPECT_EQ(take(block), 1u);
}

TEST_F(AdaptivePredictorTest, ACopyMissedTwiceOnEndIsRefreshed) {
  AllCopies copies;
  take(5);
  EXPECT_FALSE(predictor_.at_acquire({5, 1}, true, copies).refresh);
  predictor_.barrier_passed();
  take(5);
  EXPECT_TRUE(predictor_.at_acquire({5, 1}, true, copies).refresh);
  switch_off(Heuristic::kRefresh);
  EXPECT_FALSE(predictor_.at_acquire({5, 1}, true, copies).refresh);
}

TEST_F(AdaptivePredictorTest, AFreedRegionLeavesNoHistory) {
  predictor_.home_came(7);
  predictor_.offer_ended(7);
  EXPECT_FALSE(predictor_.offers(7, NodeId{1}));
  EXPECT_TRUE(predictor_.defers(7));
  take(6);
  predictor_.forget(7);
  predictor_.region_freed({0, 16});
  EXPECT_TRUE(predictor_.offers(7, NodeId{1}));
  EXPECT_FALSE(predictor_.defers(7));
  EXPECT_EQ(take(7), 1u) << "the stream ended with its region";
}

TEST_F(AdaptivePredictorTest, HomesThatTheirOwnThreadsUseAreOfferedEverMoreSeldom) {
  std::vector<int> rounds;  // sole writes of another node until the next offer
  for (int offers = 0; offers < 4; ++offers) {
    int round = 0;
    while (!predictor_.offers(9, NodeId{1})) ++round;
    rounds.push_back(round);
    predictor_.offer_ended(9);
  }
  EXPECT_EQ(rounds, (std::vector<int>{0, 0, 8, 24}));
  predictor_.home_came(9);
  for (int round = 0; round < 4; ++round) predictor_.barrier_passed();
  EXPECT_TRUE(predictor_.offers(9, NodeId{1})) << "a home that came is another case";
}

TEST_F(AdaptivePredictorTest, OfTheOffersOfARunTheFirstThatEndsEndsAll) {
  EXPECT_EQ(predictor_.ends_offers(9), Tunables{}.max_run);
  switch_off(Heuristic::kOfferEndsRun);
  EXPECT_EQ(predictor_.ends_offers(9), 1u);
}

TEST_F(AdaptivePredictorTest, WhereManyCopiesAreRefreshedEachHasToShowItsUseEachTime) {
  AllCopies copies;
  Tunables tunables;
  tunables.many_refreshed = 16;
  std::destroy_at(&predictor_);
  std::construct_at(&predictor_, history_, kBlocks, tunables, Heuristics{});
  const std::uint64_t few = 8;
  auto refresh = [&](std::uint64_t blocks) {
    predictor_.refreshed({0, blocks}, true);
    predictor_.barrier_passed();
  };
  for (int times = 0; times < 2; ++times) {
    for (std::uint64_t block = 0; block < kBlocks; ++block) predictor_.missed(block);
    predictor_.barrier_passed();
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(predictor_.at_acquire({0, few}, true, copies).refresh);
    refresh(few);
    EXPECT_FALSE(predictor_.probes(0)) << "few are refreshed for long";
  }
  for (std::uint64_t block = 0; block < kBlocks; block += few)
    predictor_.refreshed({block, few}, true);
  predictor_.barrier_passed();
  EXPECT_FALSE(predictor_.is_unused(0)) << "short runs do not count, a fault for each costs more";
  refresh(kBlocks);
  refresh(kBlocks);
  EXPECT_TRUE(predictor_.is_unused(0));
  EXPECT_FALSE(predictor_.at_acquire({0, few}, true, copies).refresh) << "no thread came for it";
  predictor_.dropped({0, few}, true);
  predictor_.missed(0);
  EXPECT_FALSE(predictor_.at_acquire({0, 1}, true, copies).refresh) << "it begins anew";
}

TEST_F(AdaptivePredictorTest, HomesAreOfferedInEveryRoundWhereNothingIsKnown) {
  for (std::uint32_t rounds = 0; rounds < 70'000; ++rounds) {
    ASSERT_TRUE(predictor_.offers(9, NodeId{1}));
    predictor_.barrier_passed();
  }
}

TEST_F(AdaptivePredictorTest, ARoundThatIsNotHeldIsNotTriedAtOnce) {
  BarrierId id{3};
  EXPECT_TRUE(predictor_.tries_in_memory(id));
  predictor_.memory_barrier_ended(id, false);
  EXPECT_FALSE(predictor_.tries_in_memory(id));
  EXPECT_TRUE(predictor_.tries_in_memory(id));
}

TEST_F(AdaptivePredictorTest, ALockWhoseTokenLeavesIsReleasedAtOnce) {
  LockId lock{4};
  predictor_.lock_left(lock);
  EXPECT_FALSE(predictor_.release_at_once(lock));
  predictor_.lock_left(lock);
  EXPECT_TRUE(predictor_.release_at_once(lock));
  predictor_.lock_reused(lock);
  EXPECT_FALSE(predictor_.release_at_once(lock));
}

TEST_F(AdaptivePredictorTest, ATurnIsExtendedWhereThreadsComeBackForTheLockSoon) {
  LockId lock{4};
  for (std::uint32_t again = 0; again < Tunables{}.extend_after; ++again) {
    EXPECT_EQ(predictor_.extends_turn(lock), 0u);
    predictor_.lock_asked(lock);
  }
  EXPECT_EQ(predictor_.extends_turn(lock), Tunables{}.extends);
  for (std::uint32_t other = 0; other <= Tunables{}.soon; ++other)
    predictor_.lock_asked(LockId{100 + other});
  predictor_.lock_asked(lock);
  EXPECT_EQ(predictor_.extends_turn(lock), 0u);
}

TEST_F(AdaptivePredictorTest, IdleTrackedBlocksAreLeftToLeasesEverMoreSeldom) {
  auto releases_until_left = [&](std::uint64_t blocks) {
    for (std::uint32_t releases = 1; releases < 1000; ++releases)
      if (predictor_.untracks_idle(blocks)) return releases;
    return 0u;
  };
  EXPECT_EQ(releases_until_left(3), 64u);
  EXPECT_EQ(releases_until_left(3), 64u) << "no reader came back";
  EXPECT_TRUE(predictor_.tracks(7));
  EXPECT_EQ(releases_until_left(3), 128u);
  EXPECT_EQ(releases_until_left(17), 0u) << "too many to be missed again";
  switch_off(Heuristic::kUntrackIdle);
  EXPECT_EQ(releases_until_left(3), 0u);
}

TEST_F(AdaptivePredictorTest, AWrittenTrackedBlockKeepsTheOthersTracked) {
  for (int i = 0; i < 500; ++i) {
    if (i % 50 == 0) predictor_.written_when_tracked(7);
    EXPECT_FALSE(predictor_.untracks_idle(3));
  }
}

TEST_F(AdaptivePredictorTest, AWrittenHomeStaysTrackedWhereNodesMakeManyFences) {
  EXPECT_FALSE(predictor_.written_when_tracked(7)) << "there was no fence";
  for (int i = 0; i < 100; ++i) predictor_.acquired(true);
  int kept = 0;
  for (int i = 0; i < 32; ++i) kept += predictor_.written_when_tracked(7) ? 1 : 0;
  EXPECT_EQ(kept, 31) << "then its readers have to ask again";
  EXPECT_TRUE(predictor_.tracks(7)) << "and are heard at once";
  for (int i = 0; i < 10; ++i) predictor_.barrier_passed();
  EXPECT_FALSE(predictor_.written_when_tracked(7)) << "the fences are long ago";
}

TEST_F(AdaptivePredictorTest, AFewFencesBesideEachBarrierKeepNoHomeTracked) {
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 8; ++i) predictor_.acquired(true);
    EXPECT_FALSE(predictor_.written_when_tracked(7));
    predictor_.barrier_passed();
  }
}

TEST_F(AdaptivePredictorTest, AFewLeasesArriveInMemoryAndNowAndThenByMessages) {
  int held = 0;
  for (int i = 0; i < 160; ++i) held += predictor_.holds_memory_barrier_with_leases(4) ? 1 : 0;
  EXPECT_EQ(held, 150);
  EXPECT_FALSE(predictor_.holds_memory_barrier_with_leases(5));
  switch_off(Heuristic::kMemoryBarrierWithLeases);
  EXPECT_FALSE(predictor_.holds_memory_barrier_with_leases(1));
}

TEST(PredictionTest, IsReadFromItsText) {
  auto none = parse_prediction("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none.value(), Prediction{});
  auto two = parse_prediction("-push_tree,-probe");
  ASSERT_TRUE(two);
  EXPECT_FALSE(two.value().on.on(Heuristic::kPushTree));
  EXPECT_FALSE(two.value().on.on(Heuristic::kProbe));
  EXPECT_TRUE(two.value().on.on(Heuristic::kRefresh));
  auto four = parse_prediction("four_pages");
  ASSERT_TRUE(four);
  EXPECT_EQ(four.value().kind, PredictorKind::kFourPages);
}

TEST(PredictionTest, RefusesAnUnknownNameWithTheListOfNames) {
  for (const char* text : {"-push_trees", "push_tree", "-probe,x"}) {
    auto wrong = parse_prediction(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_NE(wrong.error().message.find("-push_tree, -push_version"), std::string::npos);
    EXPECT_NE(wrong.error().message.find("adaptive, never, four_pages"), std::string::npos);
  }
}

}  // namespace
}  // namespace terrane::protocol
