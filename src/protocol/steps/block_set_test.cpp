#include "protocol/steps/block_set.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "base/prng.h"

namespace terrane::protocol {
namespace {

// A set with memory of its own.
struct OwnedSet {
  explicit OwnedSet(std::uint64_t blocks)
      : words(new BlockSet::Word[BlockSet::words_needed(blocks)]()), set(words.get(), blocks) {}

  std::vector<wire::BlockRange> runs(std::uint64_t from, std::uint64_t end) const {
    std::vector<wire::BlockRange> all;
    wire::BlockRange run = set.next_run(from, end);
    while (run.count > 0) {
      all.push_back(run);
      run = set.next_run(run.end(), end);
    }
    return all;
  }

  std::unique_ptr<BlockSet::Word[]> words;
  BlockSet set;
};

TEST(BlockSetTest, TellsWhetherABlockWasThere) {
  OwnedSet owned(1000);
  EXPECT_FALSE(owned.set.insert(77));
  EXPECT_TRUE(owned.set.insert(77));
  EXPECT_TRUE(owned.set.contains(77));
  owned.set.erase(77);
  EXPECT_FALSE(owned.set.contains(77));
  EXPECT_FALSE(owned.set.insert(77));
}

TEST(BlockSetTest, RunsAreAsLongAsTheyCanBe) {
  OwnedSet owned(1000);
  for (std::uint64_t b = 60; b < 200; ++b) owned.set.insert(b);
  owned.set.insert(300);
  EXPECT_EQ(owned.runs(0, 1000), (std::vector<wire::BlockRange>{{60, 140}, {300, 1}}));
  EXPECT_EQ(owned.runs(100, 150), (std::vector<wire::BlockRange>{{100, 50}}));
  EXPECT_EQ(owned.runs(301, 1000), (std::vector<wire::BlockRange>{}));
}

TEST(BlockSetTest, TheEndOfTheSpaceEndsTheLastRun) {
  OwnedSet owned(130);
  for (std::uint64_t b = 100; b < 130; ++b) owned.set.insert(b);
  EXPECT_EQ(owned.runs(0, ~0ull), (std::vector<wire::BlockRange>{{100, 30}}));
}

TEST(BlockSetTest, AgreesWithASetOfNumbers) {
  for (std::uint64_t blocks : {1ull, 64ull, 65ull, 4097ull, 300000ull}) {
    OwnedSet owned(blocks);
    std::set<std::uint64_t> model;
    base::Prng rng(blocks);
    for (int i = 0; i < 3000; ++i) {
      std::uint64_t block = rng.next() % blocks;
      if (rng.chance(60)) {
        EXPECT_EQ(owned.set.insert(block), !model.insert(block).second);
      } else {
        owned.set.erase(block);
        model.erase(block);
      }
    }
    std::vector<std::uint64_t> members;
    for (wire::BlockRange run : owned.runs(0, blocks))
      for (std::uint64_t b = run.first; b < run.end(); ++b) members.push_back(b);
    EXPECT_EQ(members, std::vector<std::uint64_t>(model.begin(), model.end()));
  }
}

TEST(BlockSetTest, RunsOfTwoSetsAreThoseOfTheirUnion) {
  for (std::uint64_t blocks : {1ull, 64ull, 129ull, 4097ull, 100000ull}) {
    OwnedSet ours(blocks), others(blocks), both(blocks);
    base::Prng rng(blocks);
    for (int i = 0; i < 300; ++i) {
      std::uint64_t first = rng.next() % blocks, count = rng.next() % 200;
      for (std::uint64_t b = first; b < std::min(first + count, blocks); ++b) {
        (rng.chance(50) ? ours : others).set.insert(b);
        if (rng.chance(10)) ours.set.insert(b);
        both.set.insert(b);
      }
    }
    std::vector<wire::BlockRange> runs;
    for (auto run = ours.set.next_run_with(others.set, 0, blocks); run.count > 0;
         run = ours.set.next_run_with(others.set, run.end(), blocks))
      runs.push_back(run);
    EXPECT_EQ(runs, both.runs(0, blocks));
  }
}

}  // namespace
}  // namespace terrane::protocol
